import {
  BillingAnalytics,
  BillingAnalyticsQuery,
  BillingBalance,
  BillingDays,
  BillingReportQuery,
  BillingRequests,
  BillingRequestsQuery,
  BillingUsage,
  BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
} from './billing.js';
import type { RouteDefinition } from '../route/route-definition.js';

const CSV_COLUMNS =
  'The CSV columns are `timestamp`, `sku`, `pricePerUnitUsd`, `units`, `amount`, `currency`, `notes` and the `inferenceDetails.*`.';

const OWN_USAGE = 'An INFERENCE key sees its own usage, an ADMIN key that of the account.';

/** An account's balances and usage. */
export const billingRoutes = {
  billingBalance: {
    method: 'GET',
    path: '/api/v1/billing/balance',
    operationId: 'getBillingBalance',
    tag: 'Billing',
    summary: "Shows the account's balances",
    description: 'Needs an ADMIN key.',
    access: 'admin',
    status: 200,
    reply: BillingBalance,
    headers: ['balances'],
    refusals: [],
  },
  billingUsage: {
    method: 'GET',
    path: '/api/v1/billing/usage',
    operationId: 'listBillingUsage',
    tag: 'Billing',
    summary: "Lists the account's usage, in numbered pages",
    description: `${OWN_USAGE} Returns JSON, or CSV if \`Accept\` prefers it.

The numbered pages shift while new requests are charged; to export the history, use \`/billing/usage-history\`. ${CSV_COLUMNS}`,
    access: 'key',
    status: 200,
    query: BillingUsageQuery,
    reply: BillingUsage,
    csv: true,
    headers: ['balances', 'pagination'],
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'REQUEST_TIMEOUT'],
  },
  billingUsageHistory: {
    method: 'GET',
    path: '/api/v1/billing/usage-history',
    operationId: 'listBillingUsageHistory',
    tag: 'Billing',
    summary: "Exports the account's usage history, oldest first",
    description: `${OWN_USAGE} Returns JSON, or CSV if \`Accept\` prefers it.

An export returns each entry that existed when it began exactly once. It may miss requests that end while it runs, so let the
next export overlap it by a few minutes. ${CSV_COLUMNS}`,
    access: 'key',
    status: 200,
    query: BillingUsageHistoryQuery,
    reply: BillingUsageHistory,
    csv: true,
    headers: ['balances', 'cursor'],
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'REQUEST_TIMEOUT'],
  },
  billingUsageAnalytics: {
    method: 'GET',
    path: '/api/v1/billing/usage-analytics',
    operationId: 'getBillingUsageAnalytics',
    tag: 'Billing',
    summary: "Sums up the account's usage by day, model and key",
    description: `${OWN_USAGE} Days are UTC days.`,
    access: 'key',
    status: 200,
    query: BillingReportQuery,
    reply: BillingAnalytics,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'REQUEST_TIMEOUT'],
  },
  billingUsageDays: {
    method: 'GET',
    path: '/api/v1/billing/usage-analytics/daily',
    operationId: 'getBillingUsageDays',
    tag: 'Billing',
    summary: 'Sums up the usage of each key and model on each day',
    description: `${OWN_USAGE} Days are UTC days.`,
    access: 'key',
    status: 200,
    query: BillingAnalyticsQuery,
    reply: BillingDays,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'REQUEST_TIMEOUT'],
  },
  billingRequests: {
    method: 'GET',
    path: '/api/v1/billing/requests',
    operationId: 'listBillingRequests',
    tag: 'Billing',
    summary: 'Lists the charged requests, newest first, each with the positions of its charge',
    description: OWN_USAGE,
    access: 'key',
    status: 200,
    query: BillingRequestsQuery,
    reply: BillingRequests,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'REQUEST_TIMEOUT'],
  },
} as const satisfies Record<string, RouteDefinition>;
