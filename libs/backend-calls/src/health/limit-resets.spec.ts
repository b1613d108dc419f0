import { describe, expect, it } from 'vitest';
import { resetOf } from './limit-resets.js';

const NOW_MS = Date.parse('2026-11-28T12:00:00Z');

const ofAnthropic = (name: string, left: string, reset: string) => ({
  [`anthropic-ratelimit-${name}-remaining`]: left,
  [`anthropic-ratelimit-${name}-reset`]: reset,
});
const ofOthers = (name: string, left: string, reset: string) => ({
  [`x-ratelimit-remaining${name}`]: left,
  [`x-ratelimit-reset${name}`]: reset,
});

describe('the wait for a limit of a provider', () => {
  it.each([
    [ofAnthropic('input-tokens', '0', '2026-11-28T12:00:42Z'), 42],
    [ofOthers('-requests', '0', '1m30.5s'), 91],
    [ofOthers('-requests', '0', '6m0s'), 360],
    [ofOthers('-tokens', '0', '120ms'), 1],
    [ofOthers('-tokens', '0', '7.66s'), 8],
    [ofOthers('-tokens', '0', '0s'), 0],
    [ofOthers('', '0', '12'), 12],
    [ofOthers('', '0', String(NOW_MS / 1_000 + 9)), 9],
    [ofOthers('', '0', String(NOW_MS + 9_000)), 9],
    [ofOthers('-requests', '0', '999999h'), 3_600],
  ])('is by %j %d seconds', (headers, seconds) => {
    expect(resetOf(headers, NOW_MS)).toBe(seconds);
  });

  it('is that of the limit of which nothing is left, and the longest of several', () => {
    const requests = ofAnthropic('requests', '49', '2026-11-28T12:05:00Z');
    const input = ofAnthropic('input-tokens', '0', '2026-11-28T12:00:30Z');
    const output = ofAnthropic('output-tokens', '0', '2026-11-28T12:00:40Z');
    expect(resetOf({ ...requests, ...input, ...output }, NOW_MS)).toBe(40);
  });

  it.each([
    [{}],
    [ofAnthropic('requests', '5', '2026-11-28T12:05:00Z')],
    [ofAnthropic('requests', '0', '2026-11-28T11:59:00Z')],
    [ofAnthropic('requests', '0', 'soon')],
    [ofOthers('-tokens', '0', '')],
    [ofOthers('-tokens', '0', '-5')],
    [{ 'x-ratelimit-reset-tokens': '5s' }],
    [{ 'x-ratelimit-remaining-tokens': ['0', '0'], 'x-ratelimit-reset-tokens': '5s' }],
  ])('is not known by %j', (headers) => {
    expect(resetOf(headers, NOW_MS)).toBeUndefined();
  });
});
