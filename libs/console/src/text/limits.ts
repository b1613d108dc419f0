import type { ApiKeyView } from '@svc/api/keys';
import { diem, nanoOf, usd } from './format.js';

export const PERIODS = {
  HOUR: { each: 'an hour', label: 'Hour (UTC)' },
  EPOCH: { each: 'a day', label: 'Day (UTC)' },
  WEEK: { each: 'a week', label: 'Week from Monday (UTC)' },
  MONTH: { each: 'a month', label: 'Month (UTC)' },
  LIFETIME: { each: 'in all', label: 'Life of the key' },
} as const;

export const PRIVACIES = {
  ALL: 'All models',
  PRIVATE_TEXT: 'No anonymized text models',
  PRIVATE_ONLY: 'Private models only',
} as const;

/** When the spending of a period begins at zero again, or nothing if it never does. */
export function resetOf(period: keyof typeof PERIODS, nowMs = Date.now()): string | undefined {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (period === 'HOUR') return new Date(Date.UTC(year, month, day, now.getUTCHours() + 1)).toISOString();
  if (period === 'EPOCH') return new Date(Date.UTC(year, month, day + 1)).toISOString();
  if (period === 'WEEK')
    return new Date(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7))).toISOString();
  if (period === 'MONTH') return new Date(Date.UTC(year, month + 1, 1)).toISOString();
  return undefined;
}

export interface KeyLimit {
  readonly spent: string;
  readonly limit: string;
  /** Of the limit, from 0 to 1. */
  readonly part: number;
}

/** The spending limits of a key, with what has been spent of each. */
export function limitsOf({ consumptionLimits, currentPeriodUsage }: ApiKeyView): KeyLimit[] {
  return (['usd', 'diem'] as const).flatMap((currency) => {
    const limit = consumptionLimits[currency];
    if (limit === null) return [];
    const format = currency === 'usd' ? usd : diem;
    const spent = Number(currentPeriodUsage?.[currency] ?? 0);
    return [
      {
        spent: format(nanoOf(spent)),
        limit: format(limit),
        part: limit === 0 ? 1 : Math.min(1, spent / limit),
      },
    ];
  });
}
