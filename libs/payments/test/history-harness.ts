import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import fc from 'fast-check';
import { plan } from './history-steps.js';
import { PaymentHistory } from './payment-history.js';
import { PaymentProcess, testRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import type { TestChain } from './test-chain.js';

const { env } = process;
export const SEED = Number(env['SEED'] ?? Date.now() % 2 ** 31);
/** The position of a history in the run of its seed, as a failure reports it, for running it alone. */
export const ONLY = env['HISTORY'];

/** With this many histories, every kind of event must have occurred. */
const TELLING = 1_000;
const HAPPENS = [
  'a process died',
  'credited',
  'credited again',
  'others cancel',
  'others settle',
  'spent',
  'reversed permanently',
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

/** A chain and books shared by histories that run one after another. */
export class HistoryHarness {
  private readonly happened = new Set<string>();

  private constructor(
    private readonly database: TestDatabase,
    private readonly ledger: RunningLedger,
    private readonly chain: TestChain,
  ) {}

  /**
   * A chain that is a process is started last, so that it is not left behind if the database does not start.
   */
  static async start(startChain: () => TestChain | Promise<TestChain>): Promise<HistoryHarness> {
    const database = await startTestDatabase();
    const url = new URL(database.url);
    // A crash is only simulated; the server keeps running.
    url.searchParams.set('options', '-c synchronous_commit=off');
    return new HistoryHarness(database, await startLedger({ url: url.href }), await startChain());
  }

  /** Runs histories, auditing the books of each. A failing one leaves them unproved, so none is shrunk. */
  async run(count: number, seed: number): Promise<void> {
    const { ledger, chain } = this;
    const times = new PaymentTimes(ledger.database);
    const happened = (what: string): void => void this.happened.add(what);
    await fc.assert(
      fc.asyncProperty(plan, async (each) => {
        await new PaymentHistory({ plan: each, ledger, chain, times, happened }).run();
      }),
      { seed, numRuns: count, endOnFailure: true, ...(ONLY !== undefined && { path: ONLY }) },
    );
  }

  /** The failed audits of chain and books. */
  async faults(): Promise<readonly unknown[]> {
    const { ledger, chain } = this;
    const { payments } = new PaymentProcess({
      database: ledger.database,
      books: ledger.books,
      areBooksThere: () => true,
      railOf: testRail(chain, { submits: 'signer', confirmations: 2 }),
    });
    const reports = [await payments.audit('whole'), await ledger.books.audit('whole')];
    return reports.filter(({ ok, mismatches }) => !ok || mismatches.length > 0);
  }

  async stop(): Promise<void> {
    await this.ledger.stop();
    await this.database.stop();
    await this.chain.stop();
  }

  /** Events that never occurred in the histories of these harnesses, if there were enough histories. */
  static missing(harnesses: readonly HistoryHarness[], count: number): string[] {
    if (ONLY !== undefined || count < TELLING) return [];
    return HAPPENS.filter((what) => !harnesses.some(({ happened }) => happened.has(what)));
  }
}
