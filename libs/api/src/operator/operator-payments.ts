import { z } from 'zod';
import { RailName } from '@svc/contracts/money';
import { PAYMENT_STATES } from '@svc/contracts/ports';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label, WalletAddress } from './operator.js';
import { AuditQuery } from './operator-refund.js';

const Money = z.string().meta({ example: '25.00' });
const rail = RailName.meta({ example: 'base' });
const state = z.enum(PAYMENT_STATES);

/** The id of a payment on its chain: a hash on Base, a signature on Solana. */
const Transaction = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/, 'must be the hash of a transaction')
  .meta({ example: `0x${'5f'.repeat(32)}` });

export const PaymentQuery = z.strictObject({
  state: state.optional(),
  rail: rail.optional(),
  /** The address of the wallet that paid. */
  wallet: WalletAddress.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be `nextBefore` of the previous page')
    .optional(),
});

export const PaymentView = z.object({
  id: z.string(),
  state,
  rail,
  wallet: z.string(),
  accountId: z.uuid(),
  payTo: z.string(),
  /** The signed amount. */
  usd: Money,
  /** The transaction on the chain, or the one submitted. */
  transaction: z.string().nullable(),
  /** The number of attempted steps. */
  attempts: z.int(),
  /** How often its credit was reversed because the payment vanished from the chain. */
  reversals: z.int(),
  ageSeconds: z.int(),
  /** Why it is in its state, if there is a reason to report. */
  reason: z.string().nullable(),
  /** Why its last step failed. */
  lastError: z.string().nullable(),
  /** The operator's decision, and its reason. */
  resolution: z.object({ decision: z.enum(['credit', 'fail']), reason: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const PaymentList = z.object({
  object: z.literal('list'),
  data: z.array(PaymentView),
  /** Pass it as `before` for the next page. */
  nextBefore: z.string().nullable(),
});

export const PaymentTotalsView = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      rail,
      state,
      payments: z.int(),
      usd: Money,
      /** The age of the oldest one. */
      oldestSeconds: z.int(),
    }),
  ),
});

export const NewPaymentDecision = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('credit'), transaction: Transaction, reason: Label }),
  z.strictObject({ decision: z.literal('fail'), reason: Label }),
]);

export const PaymentsAuditView = z.object({
  ok: z.boolean(),
  scope: z.enum(['whole', 'new']),
  rails: z.array(
    z.object({
      rail,
      /** The audited range of blocks. */
      fromBlock: z.string(),
      toBlock: z.string(),
      /** The number of audited rows: credited payments; deposits and reversals in the books. */
      payments: z.int(),
      transfers: z.int(),
      creditedUsd: Money,
      onChainUsd: Money,
      booksUsd: Money,
      /** Transfers that arrived and belong to no payment. */
      unclaimed: z.int(),
      unclaimedUsd: Money,
    }),
  ),
  mismatches: z.array(z.string()),
  unclaimed: z.array(z.string()),
});

export type PaymentQuery = z.infer<typeof PaymentQuery>;
export type PaymentView = z.infer<typeof PaymentView>;
export type PaymentList = z.infer<typeof PaymentList>;
export type PaymentTotalsView = z.infer<typeof PaymentTotalsView>;
export type NewPaymentDecision = z.infer<typeof NewPaymentDecision>;
export type PaymentsAuditView = z.infer<typeof PaymentsAuditView>;

const paymentParams = z.object({
  id: z
    .string()
    .regex(/^payment_[0-9a-f]{32}$/, 'must be the id of a payment')
    .meta({ example: `payment_${'1a'.repeat(16)}` }),
});

export const paymentRoutes = {
  listPayments: {
    method: 'GET',
    path: '/operator/v1/payments',
    operationId: 'listPayments',
    tag: 'Payments',
    summary: 'Lists payments of wallets, newest first',
    access: 'operator',
    status: 200,
    query: PaymentQuery,
    reply: PaymentList,
    refusals: ['INVALID_REQUEST', 'X402_NOT_CONFIGURED', 'UNAVAILABLE'],
  },
  totalPayments: {
    method: 'GET',
    path: '/operator/v1/payments/totals',
    operationId: 'totalPayments',
    tag: 'Payments',
    summary: 'Counts the payments on each rail by state, with their total amount',
    access: 'operator',
    status: 200,
    reply: PaymentTotalsView,
    refusals: ['X402_NOT_CONFIGURED', 'UNAVAILABLE'],
  },
  auditPayments: {
    method: 'GET',
    path: '/operator/v1/payments/audit',
    operationId: 'auditPayments',
    tag: 'Payments',
    summary: 'Audits the payments: compares each with its chain and with the books',
    description: `Each credited payment must be on its chain with exactly its amount, and in the books as one deposit. Each deposit, and
each transfer to the receiving address, must belong to a payment. Incoming transfers without a payment are reported as
unclaimed. With \`scope=new\` only what is new since the last audit without mismatches is checked.`,
    access: 'operator',
    status: 200,
    query: AuditQuery,
    reply: PaymentsAuditView,
    refusals: ['INVALID_REQUEST', 'X402_NOT_CONFIGURED', 'UNAVAILABLE'],
  },
  getPayment: {
    method: 'GET',
    path: '/operator/v1/payments/:id',
    operationId: 'getPayment',
    tag: 'Payments',
    summary: 'Shows a payment',
    access: 'operator',
    status: 200,
    params: paymentParams,
    reply: PaymentView,
    refusals: ['INVALID_REQUEST', 'PAYMENT_NOT_FOUND', 'X402_NOT_CONFIGURED', 'UNAVAILABLE'],
  },
  retryPayment: {
    method: 'POST',
    path: '/operator/v1/payments/:id/retry',
    operationId: 'retryPayment',
    tag: 'Payments',
    summary: 'Retries a payment immediately',
    description: `Queries the chain again, even if the payment is FAILED or UNKNOWN, and takes the next step. A credited payment does not
change.`,
    access: 'operator',
    scope: 'money',
    status: 200,
    params: paymentParams,
    reply: PaymentView,
    refusals: ['INVALID_REQUEST', 'PAYMENT_NOT_FOUND', 'X402_NOT_CONFIGURED', 'UNAVAILABLE'],
  },
  resolvePayment: {
    method: 'POST',
    path: '/operator/v1/payments/:id/resolve',
    operationId: 'resolvePayment',
    tag: 'Payments',
    summary: 'Ends a payment by decision of the operator, unless the chain contradicts it',
    description: `\`credit\` names the transaction that paid: it must be on the chain, with this payment's authorization and amount.
\`fail\` is accepted only if the payment can no longer succeed. The reason is stored with the payment.`,
    access: 'operator',
    scope: 'money',
    status: 200,
    params: paymentParams,
    body: NewPaymentDecision,
    reply: PaymentView,
    refusals: [
      'INVALID_REQUEST',
      'PAYMENT_NOT_FOUND',
      'PAYMENT_DECISION_REFUSED',
      'X402_NOT_CONFIGURED',
      'UNAVAILABLE',
    ],
  },
} as const satisfies Record<string, RouteDefinition>;
