import { z } from 'zod';
import { TRANSFER_KINDS } from '@svc/contracts/ports';
import type { RouteDefinition } from '../route/route-definition.js';

const Money = z.string().meta({ example: '9.999988' });
const Amounts = z.object({ usd: Money, diem: Money });

export const SpenderQuery = z.strictObject({
  from: z.iso.date().describe('The first UTC day.'),
  until: z.iso.date().describe('The last UTC day, included.'),
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  by: z
    .enum(['cost', 'tokens', 'requests', 'refusals'])
    .default('cost')
    .describe('What the accounts have most of. `cost` is in both currencies together, less refunds.'),
});

export const SpenderList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      accountId: z.uuid(),
      name: z.string().nullable().describe('Null for a wallet whose account was not opened by an operator.'),
      requests: z
        .int()
        .nullable()
        .describe(
          'Charged requests, except those of closed months; null if they are too many to count in time.',
        ),
      refusals: z
        .int()
        .nullable()
        .describe(
          'Requests refused with a 4xx status, as far as they were recorded: for 30 days, and of a flood a part; null if they are too many to count in time.',
        ),
      tokens: z.int().describe('Input and output tokens, cached ones included.'),
      charged: Amounts.describe('What its requests of these days cost.'),
      refunded: Amounts.describe('What was refunded in these days, whenever it was charged.'),
    }),
  ),
});

const Month = z
  .string()
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month, such as 2026-11')
  .meta({ example: '2026-11' });

const Entry = z.object({
  entry: z
    .enum(['opening_balance', ...TRANSFER_KINDS, 'closing_balance'])
    .describe('A balance of the customers, or a kind of transfer.'),
  detail: z
    .string()
    .describe(
      'The model of charges and write-offs; the source of credits, deposits and what reverses them, such as `deposits:base`; who caused a refund: `operator` or `failed_request`.',
    ),
  currency: z.enum(['USD', 'DIEM']),
  amount: Money,
  balanceChange: z
    .string()
    .describe(
      'By how much it changes the balances: the opening balance and all of these are the closing balance. Zero for a write-off.',
    )
    .meta({ example: '-9.999988' }),
});

export const LedgerMonth = z.object({
  object: z.literal('ledger_month'),
  month: Month,
  isComplete: z
    .boolean()
    .describe('False until the month has ended; the closing balance is then that of now.'),
  entries: z.array(
    Entry.extend({
      entry: z
        .enum([...Entry.shape.entry.options, 'provider_cost', 'margin'])
        .describe(
          'A balance of the customers, a kind of transfer, or of models with a `markup` what their providers take for the charged tokens (`provider_cost`), and what customers paid for these tokens less that (`margin`, in both currencies together).',
        ),
    }),
  ),
});

export const AccountStatement = z.object({
  object: z.literal('statement'),
  accountId: z.uuid(),
  month: Month,
  isComplete: LedgerMonth.shape.isComplete,
  entries: z.array(
    Entry.extend({
      at: z.iso.datetime().describe('For the charges of a day, its beginning.'),
      reference: z.string().describe('Empty for balances and for the charges of a day.'),
    }),
  ),
});

export type LedgerMonth = z.infer<typeof LedgerMonth>;
export type AccountStatement = z.infer<typeof AccountStatement>;
export type SpenderQuery = z.infer<typeof SpenderQuery>;
export type SpenderList = z.infer<typeof SpenderList>;

export const accountingRoutes = {
  listSpenders: {
    method: 'GET',
    path: '/operator/v1/spenders',
    operationId: 'listSpenders',
    tag: 'Ledger',
    summary: 'Lists the accounts with the most cost, tokens, requests or refusals in a period, highest first',
    description: 'From the books, and refusals from the record of failed requests.',
    access: 'operator',
    status: 200,
    query: SpenderQuery,
    reply: SpenderList,
    refusals: ['INVALID_REQUEST', 'UNAVAILABLE', 'REQUEST_TIMEOUT'],
  },
  getLedgerMonth: {
    method: 'GET',
    path: '/operator/v1/ledger/months/:month',
    operationId: 'getLedgerMonth',
    tag: 'Ledger',
    summary: 'Shows the sums of a month for accounting, as JSON or CSV',
    description: `Charges by model are the revenue; credits and deposits are what was sold, by rail. The balances, the transfers and the
charges are summed separately, so that \`opening_balance\` and all changes add up to \`closing_balance\` only if the books are right.
Reads every transfer since the month began, which may take minutes. Send \`Accept: text/csv\` for CSV.`,
    access: 'operator',
    status: 200,
    params: z.object({ month: Month }),
    reply: LedgerMonth,
    csv: true,
    refusals: ['INVALID_REQUEST', 'UNAVAILABLE'],
  },
  getStatement: {
    method: 'GET',
    path: '/operator/v1/accounts/:id/statements/:month',
    operationId: 'getStatement',
    tag: 'Accounts',
    summary: 'Shows the statement of an account for a month, as JSON or CSV',
    description: `Each transfer, and the charges of each day by model, between the opening and the closing balance.
Send \`Accept: text/csv\` for CSV.`,
    access: 'operator',
    status: 200,
    params: z.object({ id: z.uuid(), month: Month }),
    reply: AccountStatement,
    csv: true,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND', 'UNAVAILABLE', 'REQUEST_TIMEOUT'],
  },
} as const satisfies Record<string, RouteDefinition>;
