import { base58 } from '@scure/base';
import { SOLANA_NETWORK } from '@svc/contracts/money';
import { whole } from '@svc/runtime';
import { z } from 'zod';
import { Facilitator } from '../facilitator/facilitator.js';
import { type RailKind, commonSettings } from './rail-kind.js';

const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a Solana address in base58')
  .refine(isAddress, 'must be a Solana address: 32 bytes in base58');

function isAddress(text: string): boolean {
  try {
    return base58.decode(text).length === 32;
  } catch {
    return false;
  }
}

const settings = {
  ...commonSettings({
    rpcUrl:
      'The JSON-RPC URL of a Solana node with transaction history, which is trusted to report payments correctly; if unset, payments on Solana are not offered',
    payTo: 'The address on Solana that receives payments; it needs a USDC token account',
    address,
    keyFile:
      'A file with the key pair, in the format of `solana-keygen`, of the account that signs payments and pays their fees; during a rotation, the second key pair follows the first (docs/rotation.md)',
    key: 'The key pair itself, also in base58, if there is no file; a file is safer',
  }),
  COMMITMENT: z
    .enum(['confirmed', 'finalized'])
    .default('finalized')
    .describe(
      'The finality that a payment needs before it is credited: `confirmed` takes a few seconds, `finalized` about 15 s',
    ),
  MAX_FEE_LAMPORTS: whole(10_000, 100_000_000)
    .default(100_000)
    .describe('Payments with a higher fee are rejected'),
};

interface SolanaSettings extends z.infer<z.ZodObject<typeof settings>> {
  readonly RPC_URL: string;
  readonly PAY_TO: string;
}

const terms = { name: 'solana', network: SOLANA_NETWORK };

/** A facilitator that submits payments on Solana, and pays their fees. */
export const solanaFacilitator = (url: string): Facilitator =>
  new Facilitator(url, {
    ...terms,
    messageOf: async ({ wire }, feePayer) => ({
      extra: { feePayer: await feePayer() },
      payload: { transaction: wire },
    }),
  });

/** USDC on Solana. */
export const solana: RailKind<SolanaSettings> = {
  ...terms,
  prefix: 'X402_SOLANA',
  settings,
  open: async ({ settings: own, store, facilitatorUrl, hasKey, withKey }) => {
    // Loaded here, so that processes without payments do not load the client of the chain.
    const { FeePayer, openSolanaRail } = await import('../solana/solana-rail.js');
    const submitter =
      facilitatorUrl === undefined || hasKey
        ? withKey((key) => FeePayer.of(key))
        : solanaFacilitator(facilitatorUrl);
    const { RPC_URL: rpcUrl, PAY_TO: payTo, COMMITMENT: commitment, MAX_FEE_LAMPORTS: maxFeeLamports } = own;
    return openSolanaRail(terms.name, { rpcUrl, payTo, commitment, maxFeeLamports, submitter }, store);
  },
};
