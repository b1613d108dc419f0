import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { DatabaseServer } from '../database-server.js';
import { GrownMemory, INSPECTED } from '../memory.js';
import { type Payer, askAs, faultsLeft, openChangedPayer, openPayers } from '../payers.js';
import { Platform } from '../platform.js';
import { Random } from '../random.js';
import { Load } from './load.js';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CLIENTS = 12;
const WARM_MS = 3_000;
const TIMEOUT = { timeout: 240_000 };

let platform: Platform;
let database: DatabaseServer;
let payers: [Payer, ...Payer[]];
let grown: GrownMemory;
let outages = 0;

beforeAll(async () => {
  platform = await Platform.start({ env: INSPECTED });
  database = new DatabaseServer(platform.dataDir);
  payers = await openPayers(platform);
  await Promise.all(payers.map(({ reconciliation }) => reconciliation.askAgain()));
  await warm();
  grown = await GrownMemory.since(platform.service);
});
afterAll(async () => {
  grown.close();
  await platform.stop();
});

/** A load without an outage, as the baseline for the memory of the service. */
async function warm(): Promise<void> {
  const load = new Load(platform, payers, { random: new Random(SEED), clients: CLIENTS, name: 'warm' });
  await sleep(WARM_MS);
  await load.end();
}

/** Runs an outage under load, and checks that requests succeed again and that nothing is left behind. */
async function faultsOf(outage: () => Promise<void>): Promise<string[]> {
  const name = `outage-${(outages += 1)}`;
  const load = new Load(platform, payers, { random: new Random(SEED + outages), clients: CLIENTS, name });
  try {
    await sleep(300);
    await outage();
    await answersAgain();
    await sleep(300);
  } finally {
    await load.end();
  }
  return faultsAfter();
}

async function readyStatus(): Promise<number> {
  const response = await fetch(`${platform.rootUrl}/readyz`);
  await response.text();
  return response.status;
}

/** What an outage has left behind. */
function faultsAfter(): Promise<string[]> {
  return faultsLeft(platform, payers, {
    others: async () => [
      ...((await readyStatus()) === 200 ? [] : ['the service is not ready']),
      ...(await grown.faults()),
    ],
  });
}

/** Requests succeed again, under the same load as before. */
async function answersAgain(): Promise<void> {
  const [{ apiKeys }] = payers;
  const body = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };
  await eventually('a request is answered', async () => {
    const response = await platform.chat(apiKeys[0], body);
    const answer = (await response.json()) as { cost: { usd: number } };
    payers[0].reconciliation.sent += 1;
    if (response.status === 200)
      payers[0].reconciliation.ended.set(response.headers.get('x-request-id') ?? '', {
        usd: Math.round(answer.cost.usd * 1e9),
        diem: 0,
      });
    return response.status === 200;
  });
}

describe(`after an outage of its database under load the service works again, holds nothing and its books are correct (SEED=${SEED})`, () => {
  it.each(isLong ? [1, 6, 20] : [6])('PostgreSQL hangs for %s s', TIMEOUT, async (seconds) => {
    const ready: number[] = [];
    const outage = (): Promise<void> =>
      database.standStill(seconds * 1_000, async () => {
        await sleep(seconds * 1_000 - 500);
        ready.push(await readyStatus());
      });
    expect(await faultsOf(outage)).toEqual([]);
    // One second may go unnoticed.
    const noticed = seconds < 6 ? [200, 503] : [503];
    expect(noticed).toEqual(expect.arrayContaining(ready));
  });

  it.each(isLong ? [6, 40] : [6])(
    'PostgreSQL hangs for %s s, longer than keys are cached, and no request with a cached key is refused, limited or not',
    TIMEOUT,
    async (seconds) => {
      const patient = await Platform.start({ env: { GATEWAY_KEY_CACHE_MS: '1000' } });
      try {
        const { apiKeys } = await openChangedPayer(patient);
        const endMs = performance.now() + seconds * 1_000;
        const statuses = new Set<number>();
        const ask = async (): Promise<void> => {
          for (const apiKey of apiKeys) statuses.add((await askAs(patient, apiKey)).status);
        };
        await new DatabaseServer(patient.dataDir).standStill(seconds * 1_000, async () => {
          while (performance.now() < endMs) await ask();
        });
        expect(statuses).toEqual(new Set([200]));
      } finally {
        await patient.stop();
      }
    },
  );

  it('the server closes each of its connections in turn', TIMEOUT, async () => {
    const ended: string[] = [];
    const outage = async (): Promise<void> => {
      for (let round = 0; round < 2; round += 1) ended.push(...(await database.endConnections()));
    };
    expect(await faultsOf(outage)).toEqual([]);
    const names = ended.toSorted().join();
    expect(names).toMatch(/events \(broadcasts\).*events \(publish\).*svc-all \(instance lock\)/);
  });

  it.each(isLong ? (['SIGINT', 'SIGKILL'] as const) : (['SIGKILL'] as const))(
    'PostgreSQL is ended by %s',
    TIMEOUT,
    async (how) => {
      expect(await faultsOf(() => database.end(how))).toEqual([]);
    },
  );

  it('PostgreSQL and its data are unavailable for 5 s', TIMEOUT, async () => {
    expect(await faultsOf(() => database.goAway(5_000))).toEqual([]);
  });

  it('the service itself hangs for 12 s', TIMEOUT, async () => {
    const outage = async (): Promise<void> => {
      process.kill(platform.service.pid, 'SIGSTOP');
      await sleep(12_000);
      process.kill(platform.service.pid, 'SIGCONT');
    };
    expect(await faultsOf(outage)).toEqual([]);
  });

  it(
    'a second process has had the database meanwhile: the first one ends, not with 0, and the second goes on',
    TIMEOUT,
    async () => {
      const first = platform.service;
      // A process does not end while it is inspected.
      grown.close();
      process.kill(first.pid, 'SIGSTOP');
      expect(await database.endConnections('svc-all (instance lock)')).toHaveLength(1);
      await platform.restart();
      process.kill(first.pid, 'SIGCONT');
      expect(await first.ended()).toBe(1);
      expect(first.output).toContain('another process has used the database in the meantime');
      grown = await GrownMemory.since(platform.service);
      await answersAgain();
      expect(await faultsAfter()).toEqual([]);
    },
  );
});
