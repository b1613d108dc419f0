import { z } from 'zod';

/** One way to pay, as in x402 version 2. */
export const PaymentOption = z.object({
  scheme: z.literal('exact'),
  network: z.string().describe('CAIP-2, such as `eip155:8453`.'),
  amount: z.string().describe('In the smallest unit of the asset.'),
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.int(),
  extra: z.record(z.string(), z.string()),
});
export type PaymentOption = z.infer<typeof PaymentOption>;

const SignInInfo = z.object({
  domain: z.string(),
  uri: z.string(),
  version: z.literal('1'),
  nonce: z.string(),
  issuedAt: z.iso.datetime(),
  expirationTime: z.iso.datetime(),
  statement: z.string(),
});

const SignInChain = z.object({ chainId: z.string(), type: z.enum(['eip191', 'eip1271', 'ed25519']) });

/** What a wallet may sign to authenticate; new for each response. */
export const SignInChallenge = z.object({ info: SignInInfo, supportedChains: z.array(SignInChain) });
export type SignInChallenge = z.infer<typeof SignInChallenge>;

const SignInExtension = SignInChallenge.extend({
  info: SignInInfo.extend({ resources: z.array(z.string()) }),
  schema: z.record(z.string(), z.unknown()).describe('The JSON Schema of the payload of `SIGN-IN-WITH-X`.'),
});

/**
 * The body of a 402 for a request without any credentials: where and how to pay. Also base64 in
 * `PAYMENT-REQUIRED`.
 */
export const PaymentRequired = z.object({
  x402Version: z.literal(2),
  error: z.string(),
  resource: z.object({ url: z.string(), description: z.string(), mimeType: z.string() }),
  accepts: z.array(PaymentOption).describe('Empty if this deployment does not sell credit to wallets.'),
  extensions: z.object({ 'sign-in-with-x': SignInExtension.optional() }),
  authOptions: z
    .object({
      apiKey: z.object({ header: z.string(), getKey: z.string(), docs: z.string() }),
      x402Wallet: z
        .object({ header: z.string(), legacyHeader: z.string(), topUp: z.string(), docs: z.string() })
        .optional(),
    })
    .optional(),
});
export type PaymentRequired = z.infer<typeof PaymentRequired>;

/** The body of a 402 for a wallet that has signed in but has too little credit. */
export const WalletPaymentRequired = z.object({
  error: z.literal('Payment required'),
  code: z.literal('PAYMENT_REQUIRED'),
  reason: z.literal('insufficient_balance'),
  message: z.string(),
  currentBalanceUsd: z.number().optional().describe('Absent if the balance could not be read.'),
  minimumBalanceUsd: z.number(),
  suggestedTopUpUsd: z.number(),
  minimumTopUpUsd: z.number(),
  supportedTokens: z.array(z.string()),
  supportedChains: z.array(z.string()),
  topUpInstructions: z.object({
    step1: z.string(),
    step2: z.string(),
    step3: z.string(),
    receiverWallet: z.string().describe('Empty if this deployment does not sell credit to wallets.'),
    tokenAddress: z.string(),
    tokenDecimals: z.int(),
    network: z.string(),
    minimumAmountUsd: z.number(),
  }),
  siwxChallenge: SignInChallenge,
});
export type WalletPaymentRequired = z.infer<typeof WalletPaymentRequired>;
