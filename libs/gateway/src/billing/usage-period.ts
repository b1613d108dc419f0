import {
  ANALYTICS_DAYS,
  type BillingAnalyticsQuery,
  type BillingUsageHistoryQuery,
  type BillingUsageQuery,
} from '@svc/api/billing';
import { DAY_MS, type UsageFilter } from '@svc/contracts/ports';
import { invalidRequest } from '@svc/contracts/problems';

const LOOKBACK_DAYS = 7;

type Span = Pick<UsageFilter, 'from' | 'until'>;

/** Refuses: INVALID_REQUEST if the end is not after the start. */
export function spanOfUsage({ startDate, endDate }: BillingUsageQuery): Span {
  const found = {
    ...(startDate !== undefined && { from: new Date(startDate) }),
    ...(endDate !== undefined && { until: new Date(Date.parse(endDate) + (isDay(endDate) ? DAY_MS : 0)) }),
  };
  if (isEmpty(found)) throw fault('endDate', 'must be after startDate');
  return found;
}

/** Refuses: INVALID_REQUEST if the end is not after the start. */
export function spanOfHistory({ startTimestamp, endTimestamp }: BillingUsageHistoryQuery): Span {
  const found = {
    ...(startTimestamp !== undefined && { from: new Date(startTimestamp) }),
    ...(endTimestamp !== undefined && { until: new Date(endTimestamp) }),
  };
  if (isEmpty(found)) throw fault('endTimestamp', 'must be after startTimestamp');
  return found;
}

const isDay = (text: string): boolean => !text.includes('T');

const isEmpty = ({ from, until }: Span): boolean =>
  from !== undefined && until !== undefined && until <= from;

/** Days in UTC, including the first and the last. */
export interface Days {
  readonly from: string;
  readonly until: string;
  readonly count: number;
}

/**
 * Refuses: INVALID_REQUEST if only one date is given, if the dates are reversed or too far apart, or with a
 * lookback.
 */
export function daysOfAnalytics({ lookback, startDate, endDate }: BillingAnalyticsQuery, now: Date): Days {
  if (startDate === undefined && endDate === undefined) {
    const days = lookback === undefined ? LOOKBACK_DAYS : Number.parseInt(lookback, 10);
    const count = Math.min(days, ANALYTICS_DAYS);
    return { from: dayOf(now.getTime() - (count - 1) * DAY_MS), until: dayOf(now.getTime()), count };
  }
  if (startDate === undefined) throw fault('startDate', 'must be set if endDate is set');
  if (endDate === undefined) throw fault('endDate', 'must be set if startDate is set');
  if (lookback !== undefined) throw fault('lookback', 'must not be set if startDate is set');
  const count = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (count < 1) throw fault('endDate', 'must not be before startDate');
  if (count > ANALYTICS_DAYS)
    throw fault('endDate', `must be within ${ANALYTICS_DAYS} days of startDate, counting both days`);
  return { from: startDate, until: endDate, count };
}

/** Each day, for example `2026-11-21`. */
export function eachDay({ from, count }: Days): string[] {
  return Array.from({ length: count }, (_, index) => dayOf(Date.parse(from) + index * DAY_MS));
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const fault = (field: string, message: string) => invalidRequest([{ path: [field], message }]);
