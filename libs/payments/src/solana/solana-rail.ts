import { SOLANA_NETWORK, SOLANA_USDC } from '@svc/contracts';
import type { PaymentStore } from '../records/payment.store.js';
import type { Rail } from '../settlement/rail.js';
import type { FeePayer } from './fee-payer.js';
import { type Commitment, SolanaChain } from './solana-chain.js';
import { OwnSolanaSubmission } from './solana-submissions.js';
import { readTransfer } from './transfer.js';
import { usdcAccount } from './transfer-wire.js';

export { FeePayer } from './fee-payer.js';

export interface SolanaRailOptions {
  readonly rpcUrl: string;
  readonly payTo: string;
  readonly commitment: Commitment;
  readonly maxFeeLamports: number;
  readonly feePayer: FeePayer;
}

/** USDC on Solana. */
export async function solanaRail(options: SolanaRailOptions, store: PaymentStore): Promise<Rail> {
  const { payTo, maxFeeLamports, feePayer } = options;
  const chain = new SolanaChain(options, feePayer);
  const destination = await usdcAccount(payTo);
  const terms = { payTo, destination, maxFeeLamports, feePayer: feePayer.address };
  return {
    name: 'solana',
    network: SOLANA_NETWORK,
    payTo,
    chain,
    submission: new OwnSolanaSubmission(chain, store, feePayer),
    offer: () =>
      Promise.resolve({
        network: SOLANA_NETWORK,
        asset: SOLANA_USDC,
        payTo,
        extra: { feePayer: feePayer.address },
      }),
    read: (content) => readTransfer(content, terms),
  };
}
