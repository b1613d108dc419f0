import { z } from 'zod';
import { defineEvent } from './events.js';

/** How the log and the public API name limits: requests, tokens or credits per minute or day. */
export const LIMIT_TYPES = ['RPM', 'TPM', 'CPM', 'RPD', 'TPD', 'CPD'] as const;
export type LimitType = (typeof LIMIT_TYPES)[number];

/** The limit that a request exceeded: one of a unit, concurrent requests, or the abuse protection. */
export const LIMIT_LOG_TYPES = [...LIMIT_TYPES, 'CONCURRENT', 'FAILED_REQUESTS'] as const;
export type LimitLogType = (typeof LIMIT_LOG_TYPES)[number];

/** Entries kept and shown for each account. Source: the public interface. */
export const LIMIT_LOG_LENGTH = 50;

export const LimitReached = z.object({
  requestId: z.string(),
  accountId: z.uuid(),
  keyId: z.string(),
  /** The id of a model; empty if a route was limited. */
  model: z.string(),
  /** The path of a route. */
  route: z.string().optional(),
  tier: z.string(),
  type: z.enum(LIMIT_LOG_TYPES),
  /** ISO 8601 in UTC. */
  at: z.iso.datetime(),
});

/** A request rejected by a limit. */
export type LimitReached = z.infer<typeof LimitReached>;

/** Published for each request rejected by a limit. */
export const limitReached = defineEvent<LimitReached>({
  topic: 'limit.reached.v1',
  key: (reached) => reached.accountId,
  payload: LimitReached,
});

/** The log of requests rejected by limits. */
export abstract class LimitLog {
  /** The latest entries of an account, newest first, at most `LIMIT_LOG_LENGTH`. Rejects with UNAVAILABLE. */
  abstract latest(accountId: string): Promise<readonly LimitReached[]>;
}
