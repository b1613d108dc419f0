import {
  BillingAnalytics,
  BillingAnalyticsQuery,
  BillingBalance,
  BillingUsage,
  BillingUsageHistory,
  BillingUsageHistoryQuery,
  BillingUsageQuery,
} from './billing.js';
import type { RouteDefinition } from '../route/route-definition.js';

const CSV_COLUMNS =
  'The columns of the CSV are `timestamp`, `sku`, `pricePerUnitUsd`, `units`, `amount`, `currency`, `notes` and the `inferenceDetails.*`.';

/** An account's balances and usage, for holders of its ADMIN keys. */
export const billingRoutes = {
  billingBalance: {
    method: 'GET',
    path: '/api/v1/billing/balance',
    operationId: 'getBillingBalance',
    tag: 'Billing',
    summary: 'Shows what the account has',
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
    summary: 'Lists what the account used, in numbered pages',
    description: `Needs an ADMIN key. JSON, or CSV where \`Accept\` prefers it.

Numbered pages move while requests go on; to export a history use \`/billing/usage-history\`. ${CSV_COLUMNS}`,
    access: 'admin',
    status: 200,
    query: BillingUsageQuery,
    reply: BillingUsage,
    csv: true,
    headers: ['balances', 'pagination'],
    refusals: ['INVALID_REQUEST', 'REQUEST_TIMEOUT'],
  },
  billingUsageHistory: {
    method: 'GET',
    path: '/api/v1/billing/usage-history',
    operationId: 'listBillingUsageHistory',
    tag: 'Billing',
    summary: 'Walks through what the account used, oldest first',
    description: `Needs an ADMIN key. JSON, or CSV where \`Accept\` prefers it.

A walk finds every entry that was there when it began, once. What ends while it goes on may be behind it or before it:
let the next walk begin some minutes earlier. ${CSV_COLUMNS}`,
    access: 'admin',
    status: 200,
    query: BillingUsageHistoryQuery,
    reply: BillingUsageHistory,
    csv: true,
    headers: ['balances', 'cursor'],
    refusals: ['INVALID_REQUEST', 'REQUEST_TIMEOUT'],
  },
  billingUsageAnalytics: {
    method: 'GET',
    path: '/api/v1/billing/usage-analytics',
    operationId: 'getBillingUsageAnalytics',
    tag: 'Billing',
    summary: 'Sums up what the account used, by day, model and key',
    description: 'Needs an ADMIN key. Days are UTC days.',
    access: 'admin',
    status: 200,
    query: BillingAnalyticsQuery,
    reply: BillingAnalytics,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'REQUEST_TIMEOUT'],
  },
} as const satisfies Record<string, RouteDefinition>;
