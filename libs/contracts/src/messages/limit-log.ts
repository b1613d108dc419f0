import { z } from 'zod';
import { defineEvent } from './events.js';

/** What a request ran into: requests or tokens per minute, requests at once, or the abuse protection. */
export const LIMIT_LOG_TYPES = ['RPM', 'TPM', 'CONCURRENT', 'FAILED_REQUESTS'] as const;
export type LimitLogType = (typeof LIMIT_LOG_TYPES)[number];

/** Entries that are kept, and shown, for each account. Source: the public interface. */
export const LIMIT_LOG_LENGTH = 50;

export const LimitReached = z.object({
  requestId: z.string(),
  accountId: z.uuid(),
  keyId: z.string(),
  /** A model's id, or `endpoint:` and a path where no model was looked at. */
  model: z.string(),
  tier: z.string(),
  type: z.enum(LIMIT_LOG_TYPES),
  /** ISO 8601 in UTC. */
  at: z.iso.datetime(),
});

/** A request that a limit refused. */
export type LimitReached = z.infer<typeof LimitReached>;

/** Told for each request that a limit refused. */
export const limitReached = defineEvent<LimitReached>({
  topic: 'limit.reached.v1',
  key: (reached) => reached.accountId,
  payload: LimitReached,
});

/** Which requests ran into limits. */
export abstract class LimitLog {
  /** The latest of an account, newest first, `LIMIT_LOG_LENGTH` at most. Refuses: UNAVAILABLE. */
  abstract latest(accountId: string): Promise<readonly LimitReached[]>;
}
