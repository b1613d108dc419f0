import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cost } from '../response-bodies.js';
import { DatabaseServer } from '../database-server.js';
import { type Payer, faultsLeft, openPayer } from '../payers.js';
import { Platform, TEST_MODEL } from '../platform.js';
import { nanoCost } from '../reconciliation.js';

const TIMEOUT = { timeout: 300_000 };
const CLIENTS = 12;
/** The number of requests that are refused because no store accepts their charge. */
const REFUSED = 20;
const REFUSED_MS = 120_000;

let platform: Platform;
let database: DatabaseServer;
let payers: [Payer, ...Payer[]];

beforeEach(async () => {
  platform = await Platform.start({ env: { LEDGER_SETTLE_WAIT_MS: '500' } });
  database = new DatabaseServer(platform.dataDir);
  payers = [await openPayer(platform, { creditUsd: '100.00', stakes: false, keys: 2 })];
  await payers[0].reconciliation.askAgain();
});
afterEach(() => platform.stop());

const journal = (): string => join(platform.dataDir, 'ledger');

/** Replaces the journal's folder by a file, so that the journal accepts nothing. */
async function takeJournal(): Promise<void> {
  await rm(journal(), { recursive: true, force: true });
  await writeFile(journal(), 'no folder');
}

/** The number of refused requests in the journal. */
function keptRefusals(): number {
  const file = join(journal(), 'charges.journal');
  return existsSync(file) ? readFileSync(file, 'latin1').split('"kind":"never"').length - 1 : 0;
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + REFUSED_MS;
  while (!holds() && Date.now() < deadline) await sleep(50);
}

/** Sends requests until it is stopped. A refused request must not be charged. */
async function client(over: AbortSignal): Promise<void> {
  const [{ reconciliation, apiKeys }] = payers;
  const body = { model: TEST_MODEL.id, messages: [{ role: 'user', content: 'hi' }] };
  while (!over.aborted) {
    reconciliation.sent += 1;
    const response = await platform.chat(apiKeys[0], body);
    const requestId = response.headers.get('x-request-id') ?? '';
    const answer = (await response.json()) as { cost: Cost };
    if (response.status === 200) reconciliation.ended.set(requestId, nanoCost(answer.cost));
    else reconciliation.refused.add(requestId);
  }
}

/**
 * The event log, the books and the journal all fail until some requests are refused; then the clients
 * stop.
 */
async function nothingTakes(then: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  const clients = Promise.all(Array.from({ length: CLIENTS }, () => client(over.signal)));
  await sleep(500);
  await database.standStill(1_000, async () => {
    const { refused } = payers[0].reconciliation;
    await takeJournal();
    await until(() => refused.size >= REFUSED);
    over.abort();
    await clients;
    expect(refused.size).toBeGreaterThanOrEqual(REFUSED);
    await then();
  });
}

describe('requests that are refused because the log, the books and the journal all fail are never charged', () => {
  it('by the same process', TIMEOUT, async () => {
    await nothingTakes(async () => {});
    expect(await faultsLeft(platform, payers)).toEqual([]);
  });

  it('by the next run, if the journal worked again before the process was killed', TIMEOUT, async () => {
    // The log takes what it was committing, which nobody is there to hear of.
    await database.delayCommits(20);
    await nothingTakes(async () => {
      await rename(journal(), `${journal()}.away`);
      const { refused } = payers[0].reconciliation;
      await until(() => keptRefusals() >= refused.size);
      expect(keptRefusals()).toBe(refused.size);
      await platform.kill();
    });
    await platform.restart();
    expect(await faultsLeft(platform, payers)).toEqual([]);
  });
});
