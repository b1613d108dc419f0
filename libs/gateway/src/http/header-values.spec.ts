import type { Admission } from '@svc/contracts';
import { describe, expect, it } from 'vitest';
import { limitHeaders } from './header-values.js';

const ADMISSION: Admission = {
  admitted: false,
  requests: { limit: 5, remaining: 4 },
  tokens: { limit: 5, remaining: 4 },
  resetAtMs: Date.now() + 2_000,
  type: 'user',
};

describe('x-ratelimit-reset-requests', () => {
  it('is the end of the window', () => {
    const reset = Math.ceil(ADMISSION.resetAtMs / 1_000);
    expect(limitHeaders(ADMISSION)).toMatchObject({ 'x-ratelimit-reset-requests': reset });
  });

  it('is the end of the block for a caller that another process has blocked', () => {
    const blocked: Admission = {
      ...ADMISSION,
      refusedBy: { type: 'user', of: 'failures' },
      blockedForMs: 30_000,
    };
    const { 'x-ratelimit-reset-requests': reset } = limitHeaders(blocked);
    expect(Number(reset) * 1_000).toBeGreaterThan(ADMISSION.resetAtMs + 20_000);
  });
});
