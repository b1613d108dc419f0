import { describe, expect, it } from 'vitest';
import { retryAfterOf } from './refuse-failure.js';

const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 0);
const inSeconds = (seconds: number): string => new Date(NOW_MS + seconds * 1_000).toUTCString();

describe('the time to retry after', () => {
  it.each([
    [{ 'retry-after': '17' }, 17],
    [{ 'retry-after': ' 0.2 ' }, 1],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': inSeconds(30) }, 30],
    [{ 'retry-after': 'Thursday, 01-Jan-26 12:00:30 GMT' }, 30],
    [{ 'retry-after': inSeconds(9_000_000) }, 3_600],
    [{ 'retry-after': '1e300' }, 3_600],
    [{ 'retry-after-ms': '1500' }, 2],
    [{ 'retry-after-ms': '1500', 'retry-after': '60' }, 2],
    [{ 'retry-after-ms': 'soon', 'retry-after': '60' }, 60],
  ])('is read from seconds, a date or milliseconds: %j', (headers, seconds) => {
    expect(retryAfterOf(headers, NOW_MS)).toBe(seconds);
  });

  it.each(['', ' ', '-5', 'soon', 'Infinity', 'NaN', '5, 6', inSeconds(-1), 'Thu, 99 Foo'])(
    'is not known from %j',
    (text) => {
      expect(retryAfterOf({ 'retry-after': text }, NOW_MS)).toBeUndefined();
    },
  );

  it('is not known without a header, or with two', () => {
    expect(retryAfterOf({}, NOW_MS)).toBeUndefined();
    expect(retryAfterOf({ 'retry-after': ['1', '2'] }, NOW_MS)).toBeUndefined();
  });
});
