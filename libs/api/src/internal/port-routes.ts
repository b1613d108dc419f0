import { z } from 'zod';
import { PortCalls } from '@svc/contracts/ports';
import type { RouteDefinition } from '../route/route-definition.js';

/** A batch of calls, or one call with a thousand holds. */
const CALLS_BYTES = 4_194_304;

/** A job with the largest image that a client may send, in base64. */
const JOB_BYTES = 50_331_648;

interface PortRoute<Id extends string, Tag extends string> {
  readonly path: `/internal/v1/${string}`;
  readonly operationId: Id;
  readonly tag: Tag;
  readonly summary: string;
}

/**
 * The route of a port for other processes of the deployment: a batch of calls, and a line for each as it
 * ends.
 */
function portRoute<Id extends string, Tag extends string>(route: PortRoute<Id, Tag>) {
  return {
    method: 'POST',
    access: 'internal',
    status: 200,
    body: PortCalls,
    bodyLimitBytes: CALLS_BYTES,
    reply: z.string(),
    replyType: 'application/x-ndjson',
    refusals: ['INVALID_REQUEST'],
    ...route,
  } as const satisfies RouteDefinition;
}

export const portRoutes = {
  callHolds: portRoute({
    path: '/internal/v1/holds/calls',
    operationId: 'callHolds',
    tag: 'Ledger',
    summary: 'Holds money for requests, and settles or releases holds',
  }),
  callCharges: portRoute({
    path: '/internal/v1/charges/calls',
    operationId: 'callCharges',
    tag: 'Ledger',
    summary: 'Posts charges that the event log did not accept',
  }),
  callBooks: portRoute({
    path: '/internal/v1/books/calls',
    operationId: 'callBooks',
    tag: 'Ledger',
    summary: 'Reads and changes the books',
  }),
  callAccounting: portRoute({
    path: '/internal/v1/accounting/calls',
    operationId: 'callAccounting',
    tag: 'Ledger',
    summary: 'Reads the balances and spending of many accounts',
  }),
  callLimits: portRoute({
    path: '/internal/v1/limits/calls',
    operationId: 'callLimits',
    tag: 'Limits',
    summary: 'Counts requests and failures',
  }),
  callMediaJobs: {
    ...portRoute({
      path: '/internal/v1/media-jobs/calls',
      operationId: 'callMediaJobs',
      tag: 'Jobs',
      summary: 'Takes jobs that make videos and music, and reads them',
    }),
    bodyLimitBytes: JOB_BYTES,
  },
  callPayments: portRoute({
    path: '/internal/v1/payments/calls',
    operationId: 'callPayments',
    tag: 'Wallets',
    summary: 'Settles wallet payments',
  }),
  callUsageHistory: portRoute({
    path: '/internal/v1/usage/calls',
    operationId: 'callUsageHistory',
    tag: 'Ledger',
    summary: 'Reads charges',
  }),
} as const;
