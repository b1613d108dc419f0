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
/** The whole book is proved after so many kills, and at the end. */
const AUDIT_EVERY = 10;
/** A long run tells that it goes on. */
const TOLD_EVERY = 100;
/** The slowest kill of any machine: a load, three starts, all checks. */
const KILL_MS = 60_000;
/** What a ledger says of a charge that did not find its hold, or was not posted. */
const MONEY_ERRORS = /charges beyond a balance|a charge was given up|a charge can not be posted/;

interface Run {
  readonly platform: Platform;
  readonly payers: readonly [Payer, ...Payer[]];
  readonly random: Random;
  readonly startMs: number[];
}

/** Kills everything amid a load and starts it again; at times with its database, at times killed again before it is up. */
async function killOnce(run: Run, kill: number): Promise<void> {
  const { platform, payers, random, startMs } = run;
  const load = new Load(platform, payers, { random, clients: CLIENTS, name: `kill-${kill}` });
  await sleep(random.between(20, 800));
  // On a slow machine it is waited for that the load is one.
  const isLoad = ({ ended, refused }: Counts): boolean => ended > kill && (kill < KILLS || refused > 0);
  while (!isLoad(countsOf(run))) await sleep(10);
  // It comes while all are at it; they end when they find the platform gone.
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
  const told = platform.service.output.split('\n').filter((line) => MONEY_ERRORS.test(line));
  return [...faults.flat(), ...told];
}

/** What the audit of the whole book finds. */
async function auditFaults({ platform }: Run): Promise<unknown[]> {
  const { status, body } = await platform.audit();
  return body['ok'] === true ? [] : [status, body];
}

interface Counts {
  readonly sent: number;
  readonly ended: number;
  readonly refused: number;
  readonly unseen: number;
  readonly asked: number;
}

/** What comes of all that was sent, as far as clients saw. */
function countsOf({ payers }: Run): Counts {
  const count = (of: (reconciliation: Reconciliation) => number): number =>
    payers.reduce((sum, { reconciliation }) => sum + of(reconciliation), 0);
  const sent = count((reconciliation) => reconciliation.sent);
  const ended = count((reconciliation) => reconciliation.ended.size);
  const refused = count((reconciliation) => reconciliation.refused.size);
  return { sent, ended, refused, unseen: sent - ended - refused, asked: count(({ asked }) => asked.size) };
}

function tell(run: Run): void {
  const { sent, ended, refused, unseen, asked } = countsOf(run);
  const sorted = run.startMs.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  const words = [
    `${sorted.length} kills (seed ${SEED}): ${sent} requests, ${ended} seen to their end, ${refused} refused,`,
    `${unseen} neither; ${asked} credits and refunds; a start took ${median.toFixed(0)} ms,`,
    `at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms\n`,
  ];
  process.stderr.write(words.join(' '));
}

it(
  `kill -9 at ${KILLS} random moments under load leaves no answer whose end was seen uncharged, charges none twice and holds nothing (SEED=${SEED})`,
  { timeout: 60_000 + KILLS * KILL_MS },
  async () => {
    // Accounts without money are refused all the time, and what is shown here is money.
    const platform = await Platform.start({ env: { GATEWAY_FAILURE_BLOCK: 'off' } });
    try {
      const payers = await openPayers(platform);
      const run: Run = { platform, payers, random: new Random(SEED), startMs: [] };
      expect(await faultsOf(run), 'before the first kill').toEqual([]);
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await killOnce(run, kill);
        // At times the next load comes before anybody has asked for a balance.
        if (kill < KILLS && run.random.chance(0.3)) continue;
        expect(await faultsOf(run), `after kill ${kill}`).toEqual([]);
        const audited = kill % AUDIT_EVERY === 0 ? await auditFaults(run) : [];
        expect(audited, `after kill ${kill}`).toEqual([]);
        if (kill % TOLD_EVERY === 0 && kill < KILLS) tell(run);
      }
      tell(run);
      expect(await auditFaults(run)).toEqual([]);
      for (const { reconciliation } of payers) expect(await reconciliation.historyFaults()).toEqual([]);
      // The load was one: answers were seen to their end, others were not, and money ran out.
      const { ended, refused, unseen } = countsOf(run);
      expect(ended).toBeGreaterThan(KILLS);
      expect(refused).toBeGreaterThan(0);
      expect(unseen).toBeGreaterThan(0);
    } finally {
      await platform.stop();
    }
  },
);
