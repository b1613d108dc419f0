import { SOLANA_NETWORK as network, SOLANA_USDC as asset } from '@svc/contracts/money';
import type { Facilitator } from '../facilitator/facilitator.js';
import type { PaymentStore } from '../records/payment.store.js';
import type { Rail } from '../settlement/rail.js';
import { FacilitatorSubmission } from '../settlement/submissions.js';
import { FeePayer } from './fee-payer.js';
import { type Commitment, SolanaChain } from './solana-chain.js';
import { OwnSolanaSubmission } from './solana-submissions.js';
import { readTransfer } from './transfer.js';
import { unsignedTransfer } from './unsigned-transfer.js';
import { usdcAccount } from './transfer-wire.js';

export { FeePayer } from './fee-payer.js';

export interface SolanaRailOptions {
  readonly rpcUrl: string;
  readonly payTo: string;
  readonly commitment: Commitment;
  readonly maxFeeLamports: number;
  /** Pays the fees and submits: an account of our own, or a facilitator. */
  readonly submitter: FeePayer | Facilitator;
}

/** The rail, with its chain open. */
export async function openSolanaRail(
  name: string,
  options: SolanaRailOptions,
  store: PaymentStore,
): Promise<Rail> {
  const { payTo, maxFeeLamports, submitter } = options;
  const own = submitter instanceof FeePayer ? submitter : undefined;
  const chain = new SolanaChain(options, own);
  const destination = await usdcAccount(payTo);
  const feePayers = async (): Promise<readonly [string, ...string[]]> =>
    submitter instanceof FeePayer ? submitter.addresses : [await submitter.feePayer()];
  return {
    name,
    network,
    payTo,
    chain,
    submission:
      submitter instanceof FeePayer
        ? new OwnSolanaSubmission(chain, store, submitter)
        : new FacilitatorSubmission(submitter, store),
    offer: async () => ({
      name,
      network,
      asset,
      payTo,
      extra: { feePayer: (await feePayers())[0] },
    }),
    unsigned: async (wanted) =>
      unsignedTransfer(wanted, {
        feePayer: (await feePayers())[0],
        destination,
        blockhash: await chain.blockhash(),
      }),
    read: async (content) =>
      readTransfer(content, { payTo, destination, maxFeeLamports, feePayers: await feePayers() }),
  };
}
