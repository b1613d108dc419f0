import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';

const Money = z.string().meta({ example: '9.999988' });
const Amounts = z.object({ usd: Money, diem: Money });

export const SpenderQuery = z.strictObject({
  from: z.iso.date().describe('The first UTC day.'),
  until: z.iso.date().describe('The last UTC day, included.'),
  limit: z.coerce.number().int().min(1).max(1000).default(20),
});

export const SpenderList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      accountId: z.uuid(),
      name: z.string().nullable().describe('Null for a wallet whose account was not opened by an operator.'),
      tokens: z.int().describe('Input and output tokens, cached ones included.'),
      charged: Amounts.describe('What its requests of these days cost.'),
      refunded: Amounts.describe('What was refunded in these days, whenever it was charged.'),
    }),
  ),
});

export type SpenderQuery = z.infer<typeof SpenderQuery>;
export type SpenderList = z.infer<typeof SpenderList>;

export const accountingRoutes = {
  listSpenders: {
    method: 'GET',
    path: '/operator/v1/spenders',
    operationId: 'listSpenders',
    tag: 'Ledger',
    summary: 'Lists the accounts that spent most in a period, highest first',
    description: 'They are ordered by what they were charged in both currencies together, less refunds.',
    access: 'operator',
    status: 200,
    query: SpenderQuery,
    reply: SpenderList,
    refusals: ['INVALID_REQUEST', 'UNAVAILABLE', 'REQUEST_TIMEOUT'],
  },
} as const satisfies Record<string, RouteDefinition>;
