import type { Admission } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { limitHeaders } from './header-values.js';

const RESET_AT_MS = Date.now() + 2_000;

const ADMISSION: Admission = {
  admitted: false,
  tightest: { requests: { limit: 5, remaining: 4, resetAtMs: RESET_AT_MS } },
  endsAtMs: [RESET_AT_MS],
  scope: 'user',
};

describe('x-ratelimit-reset-requests', () => {
  it('is the end of the window', () => {
    const reset = Math.ceil(RESET_AT_MS / 1_000);
    expect(limitHeaders(ADMISSION)).toMatchObject({ 'x-ratelimit-reset-requests': reset });
  });

  it('and the other headers of a unit are absent without a limit of that unit', () => {
    expect(Object.keys(limitHeaders({ ...ADMISSION, tightest: {} }))).toEqual(['x-ratelimit-type']);
    expect(limitHeaders(ADMISSION)).not.toHaveProperty('x-ratelimit-limit-tokens');
  });

  it('is the end of the block for a caller that another process has blocked', () => {
    const blocked: Admission = {
      ...ADMISSION,
      refusedBy: { of: 'failures' },
      blockedForMs: 30_000,
    };
    const { 'x-ratelimit-reset-requests': reset } = limitHeaders(blocked);
    expect(Number(reset) * 1_000).toBeGreaterThan(RESET_AT_MS + 20_000);
  });
});
