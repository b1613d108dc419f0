import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { isLong, repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plan } from './history-steps.js';
import { PaymentHistory } from './payment-history.js';
import { PaymentProcess } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { SimulatedChain } from './simulated-chain.js';
import { SimulatedFacilitator } from './simulated-node.js';

const { env } = process;
const SEED = Number(env['SEED'] ?? Date.now() % 2 ** 31);
/** Where in the run of its seed a history is, as a failure names it, to play it alone. */
const ONLY = env['HISTORY'];
const HISTORIES = repeats('PAYMENT_HISTORIES');

/** So many histories have all that can happen. */
const TELLING = 1_000;
const HAPPENS = [
  'a process died',
  'credited',
  'credited anew',
  'others cancel',
  'others settle',
  'spent',
  'taken back for good',
  'twenty at once',
  'AMOUNT_TOO_HIGH',
  'AMOUNT_TOO_LOW',
  'INVALID_PAYMENT_FORMAT',
  'INVALID_PAYMENT_RECIPIENT',
  'PAYMENT_VERIFICATION_FAILED',
  'SETTLEMENT_FAILED',
  'UNAVAILABLE',
  'UNSUPPORTED_NETWORK',
  'UNSUPPORTED_SCHEME',
  'UNSUPPORTED_TOKEN',
];

/** In the long form several side by side, since a history mostly waits for its database. */
const WORLDS = isLong && ONLY === undefined ? 4 : 1;

/** A chain and books that histories share, one after the other. */
interface World {
  readonly database: TestDatabase;
  readonly ledger: RunningLedger;
  readonly chain: SimulatedChain;
}

let worlds: readonly World[] = [];
const happened = new Set<string>();

async function startWorld(): Promise<World> {
  const database = await startTestDatabase();
  const url = new URL(database.url);
  // A crash is simulated; the server itself lives on.
  url.searchParams.set('options', '-c synchronous_commit=off');
  return { database, ledger: await startLedger({ url: url.href }), chain: new SimulatedChain() };
}

/** Plays histories, each of which has its books audited. One that fails leaves them unproved, so none is shrunk. */
async function play({ ledger, chain }: World, seed: number): Promise<void> {
  const times = new PaymentTimes(ledger.database);
  const tell = (what: string): void => void happened.add(what);
  await fc.assert(
    fc.asyncProperty(plan, async (each) => {
      await new PaymentHistory({ plan: each, ledger, chain, times, happened: tell }).play();
    }),
    {
      seed,
      numRuns: Math.ceil(HISTORIES / WORLDS),
      endOnFailure: true,
      ...(ONLY !== undefined && { path: ONLY }),
    },
  );
}

async function auditAll({ ledger, chain }: World): Promise<void> {
  const { payments } = new PaymentProcess({
    plan: { submits: 'signer', confirmations: 2 },
    database: ledger.database,
    books: ledger.books,
    chain,
    raws: new Map(),
    facilitator: new SimulatedFacilitator(chain),
    areBooksThere: () => true,
  });
  await expect(payments.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
  await expect(ledger.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
}

beforeEach(async () => {
  worlds = await Promise.all(Array.from({ length: WORLDS }, startWorld));
});

afterEach(async () => {
  for (const { ledger, database } of worlds) {
    await ledger.stop();
    await database.stop();
  }
});

describe(`histories of payments (seed ${SEED})`, () => {
  it('credits each payment once or never, and the books equal the chain', async () => {
    const played = await Promise.allSettled(worlds.map((world, number) => play(world, SEED + number)));
    const failed = played.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    for (const world of worlds) await auditAll(world);
    const expected = ONLY === undefined && HISTORIES >= TELLING ? HAPPENS : [];
    expect(expected.filter((what) => !happened.has(what))).toEqual([]);
  }, 1_200_000);
});
