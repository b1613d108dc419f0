import { z } from 'zod';
import { TOP_UP_LEAST_USD, TOP_UP_MOST_USD, NANO_PER_USD, parseUsd } from '@svc/contracts/money';
import type { RouteDefinition } from '../route/route-definition.js';

const isOnOffer = (usd: string): boolean => {
  const nano = parseUsd(usd) ?? 0n;
  const isWhole = nano % 1_000n === 0n;
  return (
    isWhole &&
    nano >= BigInt(TOP_UP_LEAST_USD) * NANO_PER_USD &&
    nano <= BigInt(TOP_UP_MOST_USD) * NANO_PER_USD
  );
};

const OFFERED = `must be a decimal number of US dollars from ${TOP_UP_LEAST_USD} to ${TOP_UP_MOST_USD}, with at most 6 decimals`;

export const TopUpQuery = z.object({
  amount: z
    .string()
    .max(20)
    .refine(isOnOffer, OFFERED)
    .default(String(TOP_UP_LEAST_USD))
    .describe('The US dollars to request if no payment is sent.'),
});
export type TopUpQuery = z.infer<typeof TopUpQuery>;

export const TopUpReply = z.object({
  success: z.literal(true),
  data: z.object({
    walletAddress: z.string(),
    amountCredited: z.number().describe('US dollars: exactly the amount received.'),
    newBalance: z
      .number()
      .optional()
      .describe(
        'US dollars. Present only in the response to the request that delivered the payment, if the balance can be read quickly enough; otherwise query the balance with a sign-in.',
      ),
    paymentId: z.string(),
  }),
});
export type TopUpReply = z.infer<typeof TopUpReply>;

export const WantedSolanaTransfer = z.object({
  amount: z.string().max(20).refine(isOnOffer, OFFERED).describe('US dollars.'),
  payer: z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a wallet address on Solana')
    .describe('The wallet that is to sign.'),
});
export type WantedSolanaTransfer = z.infer<typeof WantedSolanaTransfer>;

export const UnsignedSolanaTransfer = z.object({
  success: z.literal(true),
  data: z.object({
    transaction: z
      .string()
      .describe('Base64. It is to be signed by the payer within about a minute, and moves nothing before.'),
  }),
});
export type UnsignedSolanaTransfer = z.infer<typeof UnsignedSolanaTransfer>;

/** A rejected payment. */
export const TopUpRefused = z.object({ error: z.string().describe('An error code.'), message: z.string() });

const WalletParams = z.object({
  walletAddress: z
    .string()
    .regex(/^(0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, 'must be a wallet address on Base or Solana'),
});
export type WalletParams = z.infer<typeof WalletParams>;

export const WalletBalance = z.object({
  success: z.literal(true),
  data: z.object({
    walletAddress: z.string(),
    balanceUsd: z.number(),
    diemBalanceUsd: z.number(),
    canConsume: z.boolean().describe('Whether the balance is sufficient for a request.'),
    minimumTopUpUsd: z.number(),
    suggestedTopUpUsd: z.number(),
  }),
});
export type WalletBalance = z.infer<typeof WalletBalance>;

export const TransactionQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  offset: z.coerce.number().int().min(0).max(10_000).default(0),
});
export type TransactionQuery = z.infer<typeof TransactionQuery>;

const WalletTransaction = z.object({
  id: z.string(),
  amount: z.number().describe('US dollars; negative for a charge.'),
  balanceAfter: z.number(),
  type: z.enum(['TOP_UP', 'CHARGE', 'REFUND']),
  createdAt: z.iso.datetime(),
  requestId: z.string().nullable().describe('For a charge: the id of the request.'),
  modelId: z.string().nullable().describe('For a charge: the id of the model.'),
});
export type WalletTransaction = z.infer<typeof WalletTransaction>;

export const WalletTransactions = z.object({
  success: z.literal(true),
  data: z.object({
    walletAddress: z.string(),
    currentBalance: z.number(),
    transactions: z.array(WalletTransaction).describe('Newest first.'),
    pagination: z.object({ limit: z.int(), offset: z.int(), hasMore: z.boolean() }),
  }),
});
export type WalletTransactions = z.infer<typeof WalletTransactions>;

export const walletRoutes = {
  walletBalance: {
    method: 'GET',
    path: '/api/v1/x402/balance/:walletAddress',
    operationId: 'getWalletBalance',
    tag: 'Wallets',
    summary: "Shows the wallet's own balance",
    description:
      'What is left of the credit of the wallet that signs in, and the least that a top-up may be.',
    access: 'key-or-wallet',
    status: 200,
    params: WalletParams,
    reply: WalletBalance,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'X402_WALLET_MISMATCH'],
  },
  walletTransactions: {
    method: 'GET',
    path: '/api/v1/x402/transactions/:walletAddress',
    operationId: 'listWalletTransactions',
    tag: 'Wallets',
    summary: "Lists the wallet's own top-ups and charges",
    description: 'Of the wallet that signs in, newest first, with the transaction of each top-up.',
    access: 'key-or-wallet',
    status: 200,
    params: WalletParams,
    query: TransactionQuery,
    reply: WalletTransactions,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'X402_WALLET_MISMATCH', 'REQUEST_TIMEOUT'],
  },
  topUp: {
    method: 'POST',
    path: '/api/v1/x402/top-up',
    operationId: 'topUp',
    tag: 'Wallets',
    summary: 'Sells credit for USDC',
    description: `Without a payment it returns 402 with the ways to pay. An x402 client signs one of them and sends the request again
with the payment in \`PAYMENT-SIGNATURE\` (or \`X-402-Payment\`, \`X-PAYMENT\`). The credit is exactly the amount received on the
chain, and belongs to the wallet that paid. On 409, send the same header again, never a new payment. A payment that was
received before with a different signature or amount is rejected.`,
    access: 'public',
    status: 200,
    query: TopUpQuery,
    reply: TopUpReply,
    payment: true,
    refusals: [
      'INVALID_REQUEST',
      'INVALID_PAYMENT_FORMAT',
      'INVALID_PAYMENT',
      'UNSUPPORTED_NETWORK',
      'INVALID_PAYMENT_RECIPIENT',
      'UNSUPPORTED_TOKEN',
      'UNSUPPORTED_SCHEME',
      'INVALID_AMOUNT',
      'INVALID_PAYMENT_PAYER',
      'AMOUNT_TOO_LOW',
      'AMOUNT_TOO_HIGH',
      'PAYMENT_VERIFICATION_FAILED',
      'SETTLEMENT_FAILED',
      'PAYMENT_IN_PROGRESS',
      'X402_NOT_CONFIGURED',
    ],
  },
  solanaTransfer: {
    method: 'POST',
    path: '/api/v1/x402/solana-transfer',
    operationId: 'prepareSolanaTransfer',
    tag: 'Wallets',
    summary: 'Prepares a payment on Solana',
    description: `For wallets in browsers, which sign transactions and have no node of Solana to build them. The response has a
transfer of this amount of USDC from the payer, whose fee this service pays. Sign it, and send it to \`/x402/top-up\` as
\`{"x402Version": 2, "accepted": …, "payload": {"transaction": …}}\`, with the way to pay as listed there.`,
    access: 'key-or-wallet',
    headers: ['balances'],
    status: 200,
    body: WantedSolanaTransfer,
    reply: UnsignedSolanaTransfer,
    refusals: ['INVALID_REQUEST', 'INVALID_PAYMENT_PAYER', 'X402_NOT_CONFIGURED'],
  },
} as const satisfies Record<string, RouteDefinition>;
