import { z } from 'zod';
import {
  ConsumptionLimit,
  LimitPeriod,
  LimitView,
  PerDay,
  PerMinute,
  ownLimitsView,
} from '../keys/api-keys.js';

/** The name of an end user, as requests have it, or its id. */
export const EndUserName = z.string().min(1).max(512);

/** An end user, by a hash of its name that only this account has. */
export const EndUserId = z.string().meta({ example: 'eu_3q2-7wvTQmWk0Jc1bXyZ9A' });

export const EndUserParams = z.object({ user: EndUserName });

/** Absent limits are none. */
export const EndUserLimits = z.strictObject({
  consumptionLimit: ConsumptionLimit.optional(),
  limitPeriod: LimitPeriod.optional().describe('Default: EPOCH.'),
  requestsPerMinute: PerMinute.optional().describe('For all models together.'),
  tokensPerMinute: PerMinute.optional().describe('For all models together.'),
  requestsPerDay: PerDay.optional(),
  tokensPerDay: PerDay.optional(),
});

const limitsView = {
  consumptionLimit: LimitView,
  limitPeriod: LimitPeriod,
  ...ownLimitsView,
};

export const EndUserLimitsReply = z.object({
  success: z.literal(true),
  data: z
    .object({
      endUser: EndUserId.optional().describe('Absent for the limits of all others.'),
      ...limitsView,
    })
    .nullable()
    .describe('Null without limits of its own.'),
});

export const ForgottenUser = z.object({
  success: z.literal(true),
  data: z.object({
    endUser: EndUserId,
    requests: z.int().describe('How many charged requests no longer have an end user.'),
  }),
});

export type EndUserLimits = z.infer<typeof EndUserLimits>;
export type EndUserLimitsReply = z.infer<typeof EndUserLimitsReply>;
export type ForgottenUser = z.infer<typeof ForgottenUser>;
