import { base58 } from '@scure/base';
import { durationMs, whole } from '@svc/runtime';
import { z } from 'zod';

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits');

const solanaAddress = z
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

/** Settings for settling payments. All are optional: without them, payments are disabled. */
export const paymentsConfig = {
  X402_EVM_RPC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The JSON-RPC URL of a Base node, which is trusted to report payments correctly; if unset, payments on Base are not offered',
    ),
  X402_EVM_PAY_TO: address.optional().describe('The address on Base that receives payments'),
  X402_EVM_SIGNER_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A file with the private key, in hexadecimal, of the account that submits payments and pays their gas',
    ),
  X402_EVM_SIGNER_KEY: z
    .string()
    .optional()
    .describe('The private key itself, if there is no file; a file is safer'),
  X402_FACILITATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The URL of an x402 facilitator that submits payments instead of a signer of this deployment: always on Base, and on Solana if no signer key is set',
    ),
  X402_EVM_CONFIRMATIONS: whole(1, 1_000)
    .default(2)
    .describe('The number of confirmations before a payment is credited, counting its own block'),
  X402_EVM_MAX_FEE_GWEI: whole(1, 100_000)
    .default(20)
    .describe('Payments wait while gas costs more than this'),
  X402_SOLANA_RPC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The JSON-RPC URL of a Solana node with transaction history, which is trusted to report payments correctly; if unset, payments on Solana are not offered',
    ),
  X402_SOLANA_PAY_TO: solanaAddress
    .optional()
    .describe('The address on Solana that receives payments; it needs a USDC token account'),
  X402_SOLANA_SIGNER_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A file with the key pair, in the format of `solana-keygen`, of the account that signs payments and pays their fees; during a rotation, the second key pair follows the first (docs/rotation.md)',
    ),
  X402_SOLANA_SIGNER_KEY: z
    .string()
    .optional()
    .describe('The key pair itself, also in base58, if there is no file; a file is safer'),
  X402_SOLANA_COMMITMENT: z
    .enum(['confirmed', 'finalized'])
    .default('finalized')
    .describe(
      'The finality that a payment needs before it is credited: `confirmed` takes a few seconds, `finalized` about 15 s',
    ),
  X402_SOLANA_MAX_FEE_LAMPORTS: whole(10_000, 100_000_000)
    .default(100_000)
    .describe('Payments with a higher fee are rejected'),
  X402_EVM_REPLACE_MS: durationMs
    .default(30_000)
    .describe(
      'How long a transaction of the signer may be unconfirmed before it is replaced by one with a higher fee',
    ),
  X402_LEASE_MS: durationMs
    .default(60_000)
    .describe('How long a process may work on a payment before another process may take it over'),
  X402_SETTLE_WAIT_MS: durationMs
    .default(25_000)
    .describe('How long a top-up waits for its payment to be settled before it returns 409'),
};

export type PaymentsConfig = Readonly<z.infer<z.ZodObject<typeof paymentsConfig>>>;
