import { z } from 'zod';
import { LIMIT_SCOPES, LIMIT_UNITS, type Limits, PEEKED_LIMITS } from './limiter.js';
import { Nothing, type PortWire } from './port-wire.js';

const name = z.string().min(1).max(300);
const count = z.int().min(0);
const scope = z.enum(LIMIT_SCOPES);
const unit = z.enum(LIMIT_UNITS);

const LimitOnWire = z.object({ scope, unit, windowMs: z.int().positive(), max: count });

/** The most limits of one request. */
const MAX_LIMITS = 50;
const endsAtMs = z.array(count).max(MAX_LIMITS);

const AmountsOnWire = z.partialRecord(unit, count);

const ResourceOnWire = z.object({ kind: z.enum(['model', 'route']), name });

const AdmitRequestOnWire = z.object({
  requestId: name,
  accountId: name,
  keyId: name,
  endUser: name.optional(),
  resource: ResourceOnWire,
  limits: z.array(LimitOnWire).max(MAX_LIMITS),
  amounts: AmountsOnWire,
  subject: name,
  concurrent: count.optional(),
  bookedEndsAtMs: endsAtMs.optional(),
});

const AdmissionOnWire = z.object({
  admitted: z.boolean(),
  refusedBy: z
    .union([
      z.object({ of: z.literal('limit'), limit: LimitOnWire, resetAtMs: count }),
      z.object({ of: z.enum(['concurrent', 'failures']) }),
    ])
    .optional(),
  isProvisional: z.boolean().optional(),
  tightest: z.partialRecord(unit, z.object({ limit: count, remaining: count, resetAtMs: count })),
  endsAtMs,
  scope,
  blockedForMs: z.int().positive().optional(),
  countedBy: name.optional(),
});

const PeekOnWire = z.object({
  accountId: name,
  keyId: name,
  limits: z.array(z.object({ resource: ResourceOnWire, limit: LimitOnWire })).max(PEEKED_LIMITS),
});

const TakenLimitsOnWire = z.object({
  limits: z
    .array(z.object({ taken: count, resetAtMs: count }))
    .max(PEEKED_LIMITS)
    .optional(),
});

const UnderWayOnWire = z.object({ requestId: name, accountId: name, countedBy: name.optional() });

const FailureBlockOnWire = z.object({ forMs: z.int().positive().optional() });

/** Requests in one renewal. */
export const PLACES_PER_RENEWAL = 1_000;

export const LIMITS_WIRE: PortWire<Limits> = {
  admit: { isPlain: true, arguments: z.tuple([AdmitRequestOnWire]), result: AdmissionOnWire },
  settle: {
    isPlain: true,
    arguments: z.tuple([AdmitRequestOnWire, AdmissionOnWire, AmountsOnWire]),
    result: Nothing,
  },
  release: { isPlain: true, arguments: z.tuple([AdmitRequestOnWire, AdmissionOnWire]), result: Nothing },
  renew: {
    isPlain: true,
    arguments: z.tuple([z.array(UnderWayOnWire).max(PLACES_PER_RENEWAL)]),
    result: Nothing,
  },
  peek: { isPlain: true, arguments: z.tuple([PeekOnWire]), result: TakenLimitsOnWire },
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
