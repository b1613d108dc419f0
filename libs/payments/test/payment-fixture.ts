import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { startTestDatabase } from '@svc/storage/testing';
import { AnvilHarness } from './anvil-harness.js';
import { PaymentProcess, testRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';

/** A payment process with its own signer, a local chain and a ledger. */
export interface PaymentFixture {
  readonly ledger: RunningLedger;
  readonly harness: AnvilHarness;
  readonly service: PaymentProcess;
  readonly times: PaymentTimes;
  /** The service's number of transactions on the chain. */
  transactionCount(): Promise<number>;
  stop(): Promise<void>;
}

export async function startPaymentFixture(confirmations = 1): Promise<PaymentFixture> {
  const database = await startTestDatabase();
  const ledger = await startLedger({ url: database.url });
  // The chain is a process: it starts last, so that it does not outlive a database that fails to start.
  const harness = await AnvilHarness.start();
  return {
    ledger,
    harness,
    times: new PaymentTimes(ledger.database),
    service: new PaymentProcess({
      database: ledger.database,
      books: ledger.books,
      areBooksThere: () => true,
      railOf: testRail(harness, { submits: 'signer', confirmations }),
    }),
    transactionCount: async () =>
      Number(await harness.chain.call('eth_getTransactionCount', [harness.signer.address, 'latest'])),
    stop: async () => {
      await harness.stop();
      await ledger.stop();
      await database.stop();
    },
  };
}
