import {
  type Limit,
  LIMIT_PERIODS,
  type LimitPeriod,
  type LimitScope,
  type SpendingLimit,
  perDay,
  perMinute,
} from '@svc/contracts/ports';
import { z } from 'zod';

/** How much a key or an end user may use. Null is no limit. */
export interface UseLimits {
  readonly usdLimitNano: bigint | null;
  readonly diemLimitNano: bigint | null;
  readonly limitPeriod: LimitPeriod;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly tokensPerDay: number | null;
}

/** A `NUMERIC` without decimals, as a bigint. */
export const Nano = z
  .custom<{ toFixed(decimals: number): string }>()
  .transform((value) => BigInt(value.toFixed(0)));

/** The columns that have the same name in every table of such limits. */
export const useColumns = {
  limitPeriod: z.enum(LIMIT_PERIODS),
  requestsPerMinute: z.int().nullable(),
  tokensPerMinute: z.int().nullable(),
  requestsPerDay: z.int().nullable(),
  tokensPerDay: z.int().nullable(),
};

/** The limit of money, as the ledger takes it, if there is one. */
export function spendingLimit({
  limitPeriod: period,
  usdLimitNano,
  diemLimitNano,
}: UseLimits): SpendingLimit | undefined {
  if (usdLimitNano === null && diemLimitNano === null) return undefined;
  return {
    period,
    ...(usdLimitNano !== null && { usdNano: usdLimitNano }),
    ...(diemLimitNano !== null && { diemNano: diemLimitNano }),
  };
}

/** The limits of requests and tokens, as the limiter takes them. */
export const rateLimits = (scope: LimitScope, limits: UseLimits): Limit[] => [
  ...perMinute(scope, limits),
  ...perDay(scope, limits),
];
