import { z } from 'zod';

const name = z.string().min(1).max(300);
const count = z.int().min(0);
const limitType = z.enum(['user', 'api_key', 'global']);
const limitState = z.object({ limit: count, remaining: count });
const minuteLimits = z.object({
  requestsPerMinute: count.optional(),
  tokensPerMinute: count.optional(),
});

/** An `AdmitRequest` on the wire. */
export const AdmitCall = z.object({
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
});

/** An `Admission` on the wire. */
export const AdmissionReply = z.object({
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

export const ReleaseCall = z.object({ request: AdmitCall, admission: AdmissionReply });

export const SettleCall = z.object({ ...ReleaseCall.shape, tokensUsed: count });

/** Requests whose places among those under way are to be kept. */
export const RenewCall = z.object({
  live: z.array(z.object({ requestId: name, accountId: name, countedBy: name.optional() })).max(1_000),
});

export const SubjectCall = z.object({ subject: name });

/** A `FailureBlock` on the wire. */
export const FailureBlockReply = z.object({ forMs: z.int().positive().optional() });

/** Whether a process takes part in the shared count, and what it decided alone. */
export const LimitsState = z.object({
  /** `local` while the shared count is out of reach. */
  mode: z.enum(['shared', 'local']),
  /** When the mode began; ISO 8601 in UTC. */
  since: z.iso.datetime(),
  /** Why it is local. */
  reason: z.string().optional(),
  /** Requests admitted and refused from the local share since the start. */
  localAdmits: count,
  localRefusals: count,
  /** Calls that the shared count answered late, with an error, or not at all. */
  faults: count,
  /** Calls that were begun and have no answer yet, late ones included. */
  waiting: count,
});
export type LimitsState = z.infer<typeof LimitsState>;
