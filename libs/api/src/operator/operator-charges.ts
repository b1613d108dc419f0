import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import { Label } from './operator.js';

const Money = z.string().meta({ example: '0.000012' });
const Amounts = z.object({ usd: Money, diem: Money });

export const ChargeView = z.object({
  requestId: z.string(),
  accountId: z.uuid(),
  keyId: z.string().describe('The id of the API key, or `wallet:` and the address.'),
  model: z.string(),
  backend: z.string(),
  at: z.iso.datetime().describe('When the response ended.'),
  durationMs: z.int(),
  state: z
    .enum(['charged', 'partly_refunded', 'refunded', 'failed_request'])
    .describe('`failed_request`: refunded in full automatically, because the request failed.'),
  usage: z.object({
    promptTokens: z.int(),
    completionTokens: z.int(),
    cachedTokens: z.int(),
    cacheWriteTokens: z.int(),
    reasoningTokens: z.int(),
  }),
  cost: Amounts.describe('What the account paid.'),
  writeOff: Money.describe('The part of the cost that the balance could not pay. It is not charged.'),
  lines: z.array(
    z.object({
      sku: z.string(),
      unit: z.string().meta({ example: 'token' }),
      units: z.int(),
      pricePerMillion: Money.describe('Per million units.'),
      amount: Money,
      providerCost: Money.optional().describe(
        'What the provider takes for these units, of a model with a `markup`.',
      ),
      paid: Amounts.describe('The rest of the amount was written off.'),
    }),
  ),
  refunds: z.array(
    z.object({
      reference: z.string().describe('The reference that the operator gave to the refund.'),
      cause: z.enum(['operator', 'failed_request']),
      at: z.iso.datetime(),
      amount: Amounts,
    }),
  ),
});
export type ChargeView = z.infer<typeof ChargeView>;

export const RequestView = z.object({
  requestId: z.string(),
  outcome: z
    .enum(['charged', 'refused', 'failed'])
    .describe(
      '`refused`: with a 4xx status. `failed`: by an error of the service, or because its client left.',
    ),
  failure: z
    .object({
      at: z.iso.datetime().describe('When it ended.'),
      route: z.string().describe('The `operationId` of its route.').meta({ example: 'createChatCompletion' }),
      status: z.int().describe('The HTTP status; 499 if the client left before the response.'),
      code: z.string().nullable().describe('The error code.').meta({ example: 'INSUFFICIENT_BALANCE' }),
      ended: z
        .string()
        .nullable()
        .describe('How the response ended, if the status does not show it, such as `client_gone`.'),
      accountId: z.uuid().nullable(),
      keyId: z.string().nullable(),
      model: z.string().nullable(),
      durationMs: z.int(),
    })
    .nullable()
    .describe('Null for a request that was served completely.'),
  charge: ChargeView.nullable().describe('Null if it cost nothing.'),
});
export type RequestView = z.infer<typeof RequestView>;

export const HoldList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      requestId: z.string(),
      keyId: z.string().describe('The id of the API key, or `wallet:` and the address.'),
      amount: Amounts.describe('What is set aside now. A stream extends it ahead of its output.'),
      until: z.iso.datetime().describe('When it lapses, unless the request renews it.'),
    }),
  ),
});
export type HoldList = z.infer<typeof HoldList>;

const accountParams = z.object({ id: z.uuid() });

export const chargeRoutes = {
  listHolds: {
    method: 'GET',
    path: '/operator/v1/accounts/:id/holds',
    operationId: 'listHolds',
    tag: 'Ledger',
    summary: 'Lists what requests under way hold of an account',
    description: `The 100 whose hold was made, extended or renewed last, latest first. The holds of a crashed process are listed until
they lapse. A request that has ended has none: \`GET /operator/v1/requests/ID\` shows its charge.`,
    access: 'operator',
    status: 200,
    params: accountParams,
    reply: HoldList,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND', 'UNAVAILABLE'],
  },
  getRequest: {
    method: 'GET',
    path: '/operator/v1/requests/:requestId',
    operationId: 'getRequest',
    tag: 'Ledger',
    summary: 'Shows a request by its id, whatever its outcome',
    description: `What it cost, or why it was refused or failed. The id is the header \`x-request-id\` or the id of the completion.
Refused and failed requests are kept for 30 days, without their content, and shown a few seconds after they ended. During a flood of
them only some are kept.`,
    access: 'operator',
    status: 200,
    params: z.object({ requestId: Label.meta({ example: 'chatcmpl-0199f3a1c2d37b8e' }) }),
    reply: RequestView,
    refusals: ['INVALID_REQUEST', 'REQUEST_NOT_FOUND'],
  },
  getCharge: {
    method: 'GET',
    path: '/operator/v1/charges/:requestId',
    operationId: 'getCharge',
    tag: 'Ledger',
    summary: 'Shows the cost of a request, line by line, and its refunds',
    description: `The id is the header \`x-request-id\` or the id of the completion. A charge is shown as soon as its response
has ended.`,
    access: 'operator',
    status: 200,
    params: z.object({ requestId: Label.meta({ example: 'chatcmpl-0199f3a1c2d37b8e' }) }),
    reply: ChargeView,
    refusals: ['INVALID_REQUEST', 'CHARGE_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
