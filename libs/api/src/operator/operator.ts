import { FallbackModels, FallbackOn } from '../keys/api-keys.js';
import { z } from 'zod';
import { parseUsd } from '@svc/contracts/money';
import { TRANSFER_KINDS } from '@svc/contracts/ports';

/** A decimal string above zero, such as `"10.00"`, of at most nine decimals. */
export const PositiveUsd = z
  .string()
  .refine((text) => (parseUsd(text) ?? 0n) > 0n, 'must be a decimal string above zero, such as "10.00"')
  .meta({ example: '10.00', pattern: String.raw`^(?=.*[1-9])\d{1,12}(\.\d{1,9})?$` });

/** Text with at least one non-space. */
export const Label = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .meta({ pattern: String.raw`^[^\u0000]*[^\s\u0000][^\u0000]*$` });

/** The address of a wallet on Base or Solana. */
export const WalletAddress = z
  .string()
  .regex(/^(0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, 'must be the address of a wallet');

export const NewAccount = z.strictObject({
  name: Label,
  tier: z.enum(['standard', 'partner']).default('standard'),
  /** Whether the account may use models for paid accounts. */
  paid: z.boolean().default(false),
  /** The address of the wallet that owns the account. Opening it again changes nothing. */
  wallet: WalletAddress.optional(),
});

/** Requests of a suspended account are rejected. */
export const ACCOUNT_STATES = ['active', 'suspended'] as const;

export const NewCredit = z.strictObject({
  usd: PositiveUsd,
  /** The operator's own name for this payment. The same reference credits an account once. */
  reference: Label,
});

export const Account = z.object({
  id: z.uuid(),
  name: z.string(),
  tier: z.enum(['standard', 'partner']),
  paid: z.boolean(),
  wallet: z.string().nullable().describe('The address of the wallet that owns the account.'),
  createdAt: z.iso
    .datetime()
    .nullable()
    .describe('Null for a wallet whose account was not opened by an operator.'),
  state: z.enum(ACCOUNT_STATES),
  suspension: z.object({ at: z.iso.datetime(), reason: z.string() }).nullable(),
  fallbackModels: FallbackModels,
  fallbackOn: FallbackOn,
});

const Money = z.string().meta({ example: '9.999988' });

export const AccountWithBalances = Account.extend({ balances: z.object({ usd: Money, diem: Money }) });

export const CreatedApiKey = z.object({
  id: z.uuid(),
  /** The secret. Shown here and never again. */
  apiKey: z.string(),
  apiKeyType: z.enum(['INFERENCE', 'ADMIN']),
  description: z.string(),
  last6Chars: z.string(),
});

export const TransferView = z.object({
  id: z.string(),
  kind: z.enum(TRANSFER_KINDS),
  debitAccount: z.string(),
  creditAccount: z.string(),
  currency: z.enum(['USD', 'DIEM']),
  amount: Money,
  reference: z.string(),
  at: z.iso.datetime(),
});

export const TransferList = z.object({
  object: z.literal('list'),
  data: z.array(TransferView),
  /** Pass it as `before` for the next page. */
  nextBefore: z.string().nullable(),
});

export const TransferQuery = z.strictObject({
  kind: z.enum(TRANSFER_KINDS).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional().describe('Exclusive.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z
    .string()
    .regex(/^\d{1,18}$/, 'must be the id of a transfer')
    .optional(),
});

export const AuditView = z.object({
  ok: z.boolean(),
  /** The audited part. An audit of `new` covers the whole book if no audit has passed before. */
  scope: z.enum(['whole', 'new']),
  /** The time of the previous audit that this one continues; null for an audit of the whole book. */
  since: z.iso.datetime().nullable(),
  /** The number of audited rows. */
  accounts: z.int(),
  transfers: z.int(),
  charges: z.int(),
  imbalanceUsd: Money,
  imbalanceDiem: Money,
  mismatches: z.array(z.string()),
});

export type Account = z.infer<typeof Account>;
export type NewAccount = z.infer<typeof NewAccount>;
export type NewCredit = z.infer<typeof NewCredit>;
export type TransferQuery = z.infer<typeof TransferQuery>;
export type AccountWithBalances = z.infer<typeof AccountWithBalances>;
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;
export type TransferView = z.infer<typeof TransferView>;
export type TransferList = z.infer<typeof TransferList>;
export type AuditView = z.infer<typeof AuditView>;
