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
      'The JSON-RPC of a node of Base, which is believed about what was paid; without it, nothing is sold',
    ),
  X402_EVM_PAY_TO: address.optional().describe('The address on Base that receives payments'),
  X402_EVM_SIGNER_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A file with the private key, in hex, of the account that submits payments and pays for their gas',
    ),
  X402_EVM_SIGNER_KEY: z
    .string()
    .optional()
    .describe('The same key itself, where there is no file; better kept in one'),
  X402_FACILITATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'A facilitator of x402 that submits payments in place of a signer of our own: on Base always, on Solana where there is no key',
    ),
  X402_EVM_CONFIRMATIONS: whole(1, 1_000)
    .default(2)
    .describe('Blocks that a payment is in before it is credited, its own included'),
  X402_EVM_MAX_FEE_GWEI: whole(1, 100_000)
    .default(20)
    .describe('A payment waits while gas costs more than this'),
  X402_SOLANA_RPC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The JSON-RPC of a node of Solana that keeps its history, believed about what was paid; without it, Solana is not offered',
    ),
  X402_SOLANA_PAY_TO: solanaAddress
    .optional()
    .describe('The address on Solana that receives payments; it needs an account for USDC'),
  X402_SOLANA_SIGNER_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A file with the key pair, as `solana-keygen` writes it, of the account that signs payments and pays for their fees; with a second one after it while they are rotated (docs/rotation.md)',
    ),
  X402_SOLANA_SIGNER_KEY: z
    .string()
    .optional()
    .describe('The same key itself, also in base58, where there is no file; better kept in one'),
  X402_SOLANA_COMMITMENT: z
    .enum(['confirmed', 'finalized'])
    .default('finalized')
    .describe(
      'How sure a payment is before it is credited: some seconds after it was sent, or about fifteen',
    ),
  X402_SOLANA_MAX_FEE_LAMPORTS: whole(10_000, 100_000_000)
    .default(100_000)
    .describe('Payments whose fee would be higher are refused'),
  X402_EVM_REPLACE_MS: durationMs
    .default(30_000)
    .describe(
      'A transaction of our own that is not in a block after this time is replaced by one with a higher fee',
    ),
  X402_LEASE_MS: durationMs
    .default(60_000)
    .describe(
      'How long one process goes on with a payment; another takes over from one that died after this time',
    ),
  X402_SETTLE_WAIT_MS: durationMs
    .default(25_000)
    .describe('How long a top-up waits for its payment, before it is answered with 409'),
};

export type PaymentsConfig = Readonly<z.infer<z.ZodObject<typeof paymentsConfig>>>;
