import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DatabaseServer } from '../database-server.js';
import { decent } from './hostile-backend.js';
import { HostileHarness } from './harness.js';

const TIMEOUT = { timeout: 300_000 };
const CLIENTS = 16;
/** The number of requests that fill the journal of these tests, and some more. */
const REFUSED = 20;
const REFUSED_MS = 120_000;

let harness: HostileHarness;
let database: DatabaseServer;

beforeAll(async () => {
  // The smallest journal: about a thousand charges.
  harness = await HostileHarness.start({
    env: {
      LEDGER_JOURNAL_BYTES: '1048576',
      LEDGER_SETTLE_WAIT_MS: '500',
      // A refused request gives its place back after its response.
      GATEWAY_ACCOUNT_CONCURRENCY: '0',
    },
  });
  harness.backend.behave = decent();
  database = new DatabaseServer(harness.platform.dataDir);
});

afterAll(async () => {
  await harness.stop();
});

/** Sends requests as fast as it can until `work` has ended, and counts the refusals. */
async function underLoad(work: (refused: () => number) => Promise<void>): Promise<void> {
  let refused = 0;
  const over = new AbortController();
  const client = async (number: number): Promise<void> => {
    for (let turn = number; !over.signal.aborted; turn += 1) {
      const { status } = await harness.say('hi', { stream: turn % 2 === 0 });
      expect([200, 503]).toContain(status);
      if (status === 503) refused += 1;
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  try {
    await work(() => refused);
  } finally {
    over.abort();
    await clients;
  }
}

it.each([1, 6, 20])('leaves nothing behind when PostgreSQL hangs for %s s', TIMEOUT, async (seconds) => {
  await underLoad(async () => {
    await sleep(300);
    await database.standStill(seconds * 1_000);
    await sleep(300);
  });
  expect(await harness.afterwards()).toEqual([]);
});

it('refuses requests whose charge no store accepts, and never charges them', TIMEOUT, async () => {
  await underLoad(async (refused) => {
    const deadline = Date.now() + REFUSED_MS;
    await database.standStill(1_000, async () => {
      while (refused() < REFUSED && Date.now() < deadline) await sleep(50);
    });
    expect(refused()).toBeGreaterThanOrEqual(REFUSED);
  });
  expect(await harness.afterwards()).toEqual([]);
});
