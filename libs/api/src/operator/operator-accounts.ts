import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import {
  ACCOUNT_STATES,
  Account,
  AccountWithBalances,
  Label,
  NewAccount,
  WalletAddress,
} from './operator.js';

export const AccountQuery = z.strictObject({
  search: Label.optional().describe(
    'The beginning of an id, a part of a name (in upper or lower case), or the address of a wallet.',
  ),
  state: z.enum(ACCOUNT_STATES).optional(),
  kind: z.enum(['account', 'wallet']).optional().describe('Accounts of wallets only, or all others.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z.uuid().optional().describe('`nextBefore` of the previous page.'),
});

const ListedAccount = Account.extend({
  balances: AccountWithBalances.shape.balances
    .nullable()
    .describe('Null while the books cannot be read, so that accounts can still be found.'),
});

export const AccountList = z.object({
  object: z.literal('list'),
  data: z.array(ListedAccount),
  nextBefore: z.uuid().nullable().describe('Pass it as `before` for the next page.'),
});

/** Absent fields stay unchanged. */
export const AccountTermsChange = z
  .strictObject({
    tier: NewAccount.shape.tier.unwrap().optional(),
    paid: NewAccount.shape.paid.unwrap().optional(),
    fallbackModels: Account.shape.fallbackModels.optional(),
    fallbackOn: Account.shape.fallbackOn.optional(),
  })
  .refine(
    (change) => Object.keys(change).length > 0,
    'must have `tier`, `paid`, `fallbackModels` or `fallbackOn`',
  )
  .meta({ minProperties: 1 });

/** Why an account is suspended. Visible to operators, not to its caller. */
export const NewSuspension = z.strictObject({ reason: Label.meta({ example: 'Chargeback of invoice 17' }) });

export type AccountQuery = z.infer<typeof AccountQuery>;
export type ListedAccount = z.infer<typeof ListedAccount>;
export type AccountList = z.infer<typeof AccountList>;
export type AccountTermsChange = z.infer<typeof AccountTermsChange>;
export type NewSuspension = z.infer<typeof NewSuspension>;

/** A wallet has its account even if none was ever opened, so its address identifies one. */
const params = z.object({
  id: z
    .union([z.uuid(), WalletAddress], { error: 'must be the id of an account or the address of a wallet' })
    .describe('The id of an account, or the address of a wallet.'),
});

export const accountRoutes = {
  listAccounts: {
    method: 'GET',
    path: '/operator/v1/accounts',
    operationId: 'listAccounts',
    tag: 'Accounts',
    summary: 'Lists and searches accounts with their balances, newest first',
    description: `A wallet is listed once an operator has opened or suspended its account. Any other wallet is shown by
\`GET /operator/v1/accounts/ADDRESS\`.`,
    access: 'operator',
    status: 200,
    query: AccountQuery,
    reply: AccountList,
    refusals: ['INVALID_REQUEST'],
  },
  getAccount: {
    method: 'GET',
    path: '/operator/v1/accounts/:id',
    operationId: 'getAccount',
    tag: 'Accounts',
    summary: 'Shows an account and its balances',
    access: 'operator',
    status: 200,
    params,
    reply: AccountWithBalances,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
  changeAccount: {
    method: 'PATCH',
    path: '/operator/v1/accounts/:id',
    operationId: 'changeAccount',
    tag: 'Accounts',
    summary:
      'Changes the tier of an account, whether it may use models for paid accounts, and its fallback models',
    description: 'Every gateway applies it within a second. Requests under way finish as they began.',
    access: 'operator',
    scope: 'keys',
    status: 200,
    params,
    body: AccountTermsChange,
    reply: Account,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
  suspendAccount: {
    method: 'PUT',
    path: '/operator/v1/accounts/:id/suspension',
    operationId: 'suspendAccount',
    tag: 'Accounts',
    summary: 'Suspends an account or a wallet',
    description: `Every gateway refuses its requests with 403 \`ACCOUNT_SUSPENDED\` within a second. Requests under way finish
and are charged. Its keys, limits and balances stay as they are, and it can still be credited and topped up. Suspending it
again replaces the reason.`,
    access: 'operator',
    scope: 'keys',
    status: 200,
    params,
    body: NewSuspension,
    reply: Account,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
  resumeAccount: {
    method: 'DELETE',
    path: '/operator/v1/accounts/:id/suspension',
    operationId: 'resumeAccount',
    tag: 'Accounts',
    summary: 'Resumes a suspended account or wallet',
    description: 'An account that is not suspended stays as it is.',
    access: 'operator',
    scope: 'keys',
    status: 200,
    params,
    reply: Account,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
