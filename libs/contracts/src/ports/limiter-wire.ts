import { z } from 'zod';
import type { Limits } from './limiter.js';
import { Nothing, type PortWire } from './port-wire.js';

const name = z.string().min(1).max(300);
const count = z.int().min(0);
const limitType = z.enum(['user', 'api_key', 'global']);
const limitState = z.object({ limit: count, remaining: count });
const minuteLimits = z.object({
  requestsPerMinute: count.optional(),
  tokensPerMinute: count.optional(),
});

const AdmitRequestOnWire = z.object({
  requestId: name,
  accountId: name,
  keyId: name,
  model: name,
  limits: z.object({
    user: z.object({ requestsPerMinute: count, tokensPerMinute: count }),
    api_key: minuteLimits.optional(),
    global: minuteLimits.optional(),
  }),
  subject: name,
  concurrent: count.optional(),
  tokens: count,
  bookedResetAtMs: count.optional(),
});

const AdmissionOnWire = z.object({
  admitted: z.boolean(),
  refusedBy: z
    .object({ type: limitType, of: z.enum(['requests', 'tokens', 'concurrent', 'failures']) })
    .optional(),
  requests: limitState,
  tokens: limitState,
  resetAtMs: z.int(),
  type: limitType,
  blockedForMs: z.int().positive().optional(),
  countedBy: name.optional(),
});

const UnderWayOnWire = z.object({ requestId: name, accountId: name, countedBy: name.optional() });

const FailureBlockOnWire = z.object({ forMs: z.int().positive().optional() });

/** Requests in one renewal. */
export const PLACES_PER_RENEWAL = 1_000;

export const LIMITS_WIRE: PortWire<Limits> = {
  admit: { isPlain: true, arguments: z.tuple([AdmitRequestOnWire]), result: AdmissionOnWire },
  settle: {
    isPlain: true,
    arguments: z.tuple([AdmitRequestOnWire, AdmissionOnWire, count]),
    result: Nothing,
  },
  release: { isPlain: true, arguments: z.tuple([AdmitRequestOnWire, AdmissionOnWire]), result: Nothing },
  renew: {
    isPlain: true,
    arguments: z.tuple([z.array(UnderWayOnWire).max(PLACES_PER_RENEWAL)]),
    result: Nothing,
  },
  blocked: { isPlain: true, arguments: z.tuple([name]), result: FailureBlockOnWire },
  failed: { isPlain: true, arguments: z.tuple([name]), result: FailureBlockOnWire },
};

/** Whether a process uses the shared count, and what it decided alone. */
export const LimitsState = z.object({
  /** `local` while the shared count is unreachable. */
  mode: z.enum(['shared', 'local']),
  /** When the mode began; ISO 8601 in UTC. */
  since: z.iso.datetime(),
  /** Why it is local. */
  reason: z.string().optional(),
  /** Requests admitted and rejected from the local share since the start. */
  localAdmits: count,
  localRefusals: count,
  /** Calls to the shared count that were late, failed or had no response. */
  faults: count,
  /** Calls without a response yet, including late ones. */
  waiting: count,
});
export type LimitsState = z.infer<typeof LimitsState>;
