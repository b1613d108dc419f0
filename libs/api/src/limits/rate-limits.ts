import { z } from 'zod';
import { LIMIT_LOG_TYPES, LIMIT_TYPES } from '@svc/contracts/messages';

const Moment = z.iso.datetime().meta({ example: '2026-11-22T00:00:00.000Z' });

const RateLimit = z.object({
  amount: z.number().meta({ example: 500 }),
  /** Requests or tokens, per minute or day. */
  type: z.enum(LIMIT_TYPES),
});

export const RateLimits = z.object({
  data: z.object({
    /** Whether anything can be spent. */
    accessPermitted: z.boolean(),
    apiTier: z.object({ id: z.string().meta({ example: 'paid' }), isCharged: z.boolean() }),
    /** What this key can spend: the account's balances within the key's limits. */
    balances: z.object({ USD: z.number(), DIEM: z.number() }),
    keyExpiration: Moment.nullable(),
    /** When daily credit and daily limits reset. */
    nextEpochBegins: Moment,
    rateLimits: z.array(z.object({ apiModelId: z.string(), rateLimits: z.array(RateLimit) })),
  }),
});

export const RateLimitUsage = z.object({
  data: z.object({
    /** Whether it is known what has been used; false while the count cannot be reached. */
    counted: z.boolean(),
    /** Each model that limits requests; empty while nothing is known. */
    models: z.array(
      z.object({
        apiModelId: z.string(),
        rateLimits: z.array(
          RateLimit.extend({
            /** Of requests that are running, what they may take. */
            used: z.number().meta({ example: 42 }),
            /** When the minute or day ends. */
            resetsAt: Moment,
          }),
        ),
      }),
    ),
  }),
});

export const RateLimitLog = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      apiKeyId: z.string(),
      modelId: z.string(),
      rateLimitTier: z.string().meta({ example: 'paid' }),
      rateLimitType: z.enum(LIMIT_LOG_TYPES),
      timestamp: Moment,
    }),
  ),
});

export type RateLimits = z.infer<typeof RateLimits>;
export type RateLimitUsage = z.infer<typeof RateLimitUsage>;
export type RateLimitLog = z.infer<typeof RateLimitLog>;
