import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { startTestDatabase } from '@svc/storage/testing';
import { AnvilWorld } from './anvil-world.js';
import { PaymentProcess, playedRail } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';

/** A payment process with its own signer, a local chain and a ledger. */
export interface PaymentFixture {
  readonly ledger: RunningLedger;
  readonly world: AnvilWorld;
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
  const world = await AnvilWorld.start();
  return {
    ledger,
    world,
    times: new PaymentTimes(ledger.database),
    service: new PaymentProcess({
      database: ledger.database,
      books: ledger.books,
      areBooksThere: () => true,
      railOf: playedRail(world, { submits: 'signer', confirmations }),
    }),
    transactionCount: async () =>
      Number(await world.chain.call('eth_getTransactionCount', [world.signer.address, 'latest'])),
    stop: async () => {
      await world.stop();
      await ledger.stop();
      await database.stop();
    },
  };
}
