import { LocalSolana } from '@svc/infra';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ONLY, SEED } from './history-harness.js';
import { PaymentTimes } from './payment-times.js';
import { SolanaHistory, solanaPlan } from './solana-history.js';
import { SolanaHarness } from './solana-harness.js';

const HISTORIES = repeats('SOLANA_HISTORIES');

/** With this many histories, every kind of event must have occurred. */
const TELLING = 200;
const HAPPENS = [
  'a process died',
  'a fork of one that is BROADCAST',
  'a fork of one that is CREDITED',
  'CREDITED after 0 reversals',
  'FAILED after 0 reversals',
  'FAILED after 1 reversals',
  'twenty at once',
  'SETTLEMENT_FAILED',
  'UNAVAILABLE',
];

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Histories on Solana are not run. ${fault}`);

let database: TestDatabase;
let ledger: RunningLedger;
let harness: SolanaHarness;

beforeEach(async () => {
  if (fault !== undefined) return;
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  harness = await SolanaHarness.start();
});
afterEach(async () => {
  harness?.stop();
  await ledger?.stop();
  await database?.stop();
});

describe.skipIf(fault !== undefined)(`random histories of payments on Solana (seed ${SEED})`, () => {
  it('credit each payment once or never, and the books equal the chain', async () => {
    const seen = new Set<string>();
    const happened = (what: string): void => void seen.add(what);
    const times = new PaymentTimes(ledger.database);
    await fc.assert(
      fc.asyncProperty(solanaPlan, async (plan) => {
        await new SolanaHistory({ plan, ledger, harness, times, happened }).run();
      }),
      { seed: SEED, numRuns: HISTORIES, endOnFailure: true, ...(ONLY !== undefined && { path: ONLY }) },
    );
    expect(await ledger.books.audit('whole')).toMatchObject({ ok: true });
    const expected = ONLY === undefined && HISTORIES >= TELLING ? HAPPENS : [];
    expect(expected.filter((what) => !seen.has(what))).toEqual([]);
  }, 3_600_000);
});
