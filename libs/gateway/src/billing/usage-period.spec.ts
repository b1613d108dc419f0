import { BillingAnalyticsQuery, BillingUsageHistoryQuery, BillingUsageQuery } from '@svc/api/billing';
import { validate } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { daysOfAnalytics, eachDay, spanOfHistory, spanOfUsage } from './usage-period.js';

const usage = (query: object) => spanOfUsage(validate(BillingUsageQuery, query));
const history = (query: object) => spanOfHistory(validate(BillingUsageHistoryQuery, query));
const NOW = new Date('2026-11-21T23:59:59.999Z');
const analytics = (query: object) => daysOfAnalytics(validate(BillingAnalyticsQuery, query), NOW);

const paramOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { param?: string }).param;
  }
};

describe('the period of a usage list', () => {
  it('covers whole days, and honours times with their offset', () => {
    expect(usage({ startDate: '2026-11-20', endDate: '2026-11-20' })).toEqual({
      from: new Date('2026-11-20T00:00:00Z'),
      until: new Date('2026-11-21T00:00:00Z'),
    });
    expect(usage({ startDate: '2026-11-20T10:00:00+02:00', endDate: '2026-11-20T08:00:00.001Z' })).toEqual({
      from: new Date('2026-11-20T08:00:00Z'),
      until: new Date('2026-11-20T08:00:00.001Z'),
    });
    expect(usage({})).toEqual({});
    expect(history({ startTimestamp: '2026-11-20T10:00:00Z' })).toEqual({
      from: new Date('2026-11-20T10:00:00Z'),
    });
  });

  it.each([
    [() => usage({ startDate: '2026-11-20T10:00:00Z', endDate: '2026-11-20T10:00:00Z' }), 'endDate'],
    [() => usage({ startDate: '2026-11-21', endDate: '2026-11-20' }), 'endDate'],
    [() => usage({ startDate: '2026-02-30' }), 'startDate'],
    [() => usage({ endDate: '20 November' }), 'endDate'],
    [() => history({ startTimestamp: '2026-11-20' }), 'startTimestamp'],
    [() => history({ startTimestamp: '2026-11-20T10:00:00+01:00' }), 'startTimestamp'],
    [
      () => history({ startTimestamp: '2026-11-20T10:00:00Z', endTimestamp: '2026-11-20T10:00:00.000Z' }),
      'endTimestamp',
    ],
  ])('is rejected with the name of the invalid field (%#)', (work, param) => {
    expect(paramOf(work)).toBe(param);
  });
});

describe('the days of a usage report', () => {
  it('are the last seven by default, including today, and ninety at most', () => {
    expect(analytics({})).toEqual({ from: '2026-11-15', until: '2026-11-21', count: 7 });
    expect(analytics({ lookback: '1d' })).toEqual({ from: '2026-11-21', until: '2026-11-21', count: 1 });
    expect(analytics({ lookback: '1000d' })).toEqual({ from: '2026-08-24', until: '2026-11-21', count: 90 });
  });

  it('may be given by the first and the last day', () => {
    const days = analytics({ startDate: '2026-02-27', endDate: '2026-03-01' });
    expect(days.count).toBe(3);
    expect(eachDay(days)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(analytics({ startDate: '2026-08-24', endDate: '2026-11-21' }).count).toBe(90);
  });

  it.each([
    [{ lookback: '0d' }, 'lookback'],
    [{ lookback: '7' }, 'lookback'],
    [{ startDate: '2026-11-20' }, 'endDate'],
    [{ endDate: '2026-11-20' }, 'startDate'],
    [{ startDate: '2026-11-20', endDate: '2026-11-19' }, 'endDate'],
    [{ startDate: '2026-08-23', endDate: '2026-11-21' }, 'endDate'],
    [{ startDate: '2026-11-20', endDate: '2026-11-21', lookback: '2d' }, 'lookback'],
    [{ startDate: '0000-01-01', endDate: '0000-01-02' }, 'startDate'],
    [{ startDate: '2026-11-20T00:00:00Z', endDate: '2026-11-21' }, 'startDate'],
  ])('are rejected with the name of the invalid field: %j', (query, param) => {
    expect(paramOf(() => analytics(query))).toBe(param);
  });
});
