import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeats } from '@svc/testing';
import { expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { Load } from './load.js';
import { type Payer, openPayers, payerFaults } from '../payers.js';
import { Random } from '../random.js';
import type { Reconciliation } from '../reconciliation.js';

const KILLS = repeats('KILLS');
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CLIENTS = 24;
/** The whole book is audited after this number of kills, and at the end. */
const AUDIT_EVERY = 10;
/** A long run prints its progress. */
const REPORT_EVERY = 100;
/** The slowest kill on any machine: a load, three starts, all checks. */
const KILL_MS = 60_000;
/** The ledger's log messages for a charge without its hold, and for a charge that was not posted. */
const MONEY_ERRORS = /charges were written off because|a charge was given up|a charge cannot be posted/;

interface Run {
  readonly platform: Platform;
  readonly payers: readonly [Payer, ...Payer[]];
  readonly random: Random;
  readonly startMs: number[];
}

/**
 * Kills everything under load and restarts it; at times with its database, at times killed again during
 * the start.
 */
async function killOnce(run: Run, kill: number): Promise<void> {
  const { platform, payers, random, startMs } = run;
  const load = new Load(platform, payers, { random, clients: CLIENTS, name: `kill-${kill}` });
  await sleep(random.between(20, 800));
  // On a slow machine this waits until there is enough load.
  const isLoad = ({ ended, refused }: Counts): boolean => ended > kill && (kill < KILLS || refused > 0);
  while (!isLoad(countsOf(run))) await sleep(10);
  // The kill comes while all clients are active; they stop when the platform is gone.
  const killed = platform.kill();
  await load.end();
  await killed;
  if (random.chance(0.15)) await platform.killDatabase();
  for (let again = random.chance(0.2); again; again = random.chance(0.3))
    await platform.startAndKill(random.between(50, 1_500));
  const fromMs = performance.now();
  await platform.restart();
  startMs.push(performance.now() - fromMs);
}

async function faultsOf({ platform, payers }: Run): Promise<string[]> {
  const faults = await Promise.all(payers.map((payer) => payerFaults(platform, payer)));
  const moneyErrors = platform.service.output.split('\n').filter((line) => MONEY_ERRORS.test(line));
  return [...faults.flat(), ...moneyErrors];
}

/** The findings of the `whole` audit. */
async function auditFaults({ platform }: Run): Promise<unknown[]> {
  const { status, body } = await platform.audit();
  return body['ok'] === true ? [] : [status, body];
}

interface Counts {
  readonly sent: number;
  readonly ended: number;
  readonly refused: number;
  readonly unseen: number;
  readonly operatorRequests: number;
}

/** The outcomes of all requests, as seen by the clients. */
function countsOf({ payers }: Run): Counts {
  const count = (of: (reconciliation: Reconciliation) => number): number =>
    payers.reduce((sum, { reconciliation }) => sum + of(reconciliation), 0);
  const sent = count((reconciliation) => reconciliation.sent);
  const ended = count((reconciliation) => reconciliation.ended.size);
  const refused = count((reconciliation) => reconciliation.refused.size);
  return {
    sent,
    ended,
    refused,
    unseen: sent - ended - refused,
    operatorRequests: count(({ operatorRequests }) => operatorRequests.size),
  };
}

function report(run: Run): void {
  const { sent, ended, refused, unseen, operatorRequests } = countsOf(run);
  const sorted = run.startMs.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  const words = [
    `${sorted.length} kills (seed ${SEED}): ${sent} requests, ${ended} seen to their end, ${refused} refused,`,
    `${unseen} neither; ${operatorRequests} credits and refunds; a start took ${median.toFixed(0)} ms,`,
    `at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms\n`,
  ];
  process.stderr.write(words.join(' '));
}

it(
  `kill -9 at ${KILLS} random moments under load loses no charge of a finished response, doubles none and holds nothing (SEED=${SEED})`,
  { timeout: 60_000 + KILLS * KILL_MS },
  async () => {
    // Accounts without money are refused all the time, and this test is about money.
    const platform = await Platform.start({ env: { GATEWAY_FAILURE_BLOCK: 'off' } });
    try {
      const payers = await openPayers(platform);
      const run: Run = { platform, payers, random: new Random(SEED), startMs: [] };
      expect(await faultsOf(run), 'before the first kill').toEqual([]);
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await killOnce(run, kill);
        // Sometimes the next load starts before any request for a balance.
        if (kill < KILLS && run.random.chance(0.3)) continue;
        expect(await faultsOf(run), `after kill ${kill}`).toEqual([]);
        const audited = kill % AUDIT_EVERY === 0 ? await auditFaults(run) : [];
        expect(audited, `after kill ${kill}`).toEqual([]);
        if (kill % REPORT_EVERY === 0 && kill < KILLS) report(run);
      }
      report(run);
      expect(await auditFaults(run)).toEqual([]);
      for (const { reconciliation } of payers) expect(await reconciliation.historyFaults()).toEqual([]);
      // The load was sufficient: some responses finished, others did not, and some accounts ran out of money.
      const { ended, refused, unseen } = countsOf(run);
      expect(ended).toBeGreaterThan(KILLS);
      expect(refused).toBeGreaterThan(0);
      expect(unseen).toBeGreaterThan(0);
    } finally {
      await platform.stop();
    }
  },
);
