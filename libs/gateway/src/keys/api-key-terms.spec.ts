import { ApiKeyChange, NewApiKey } from '@svc/api/keys';
import type { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { keyTerms } from './api-key-terms.js';

const NOW = new Date('2026-11-21T10:15:00.000Z');
const KEY = { apiKeyType: 'INFERENCE', description: 'd' };
const ID = '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55';

const made = (more: object) => keyTerms(NewApiKey.parse({ ...KEY, ...more }), NOW);
const changed = (more: object) => keyTerms(ApiKeyChange.parse({ id: ID, ...more }), NOW);

describe('the terms of a key', () => {
  it('contain only what the request sets', () => {
    expect(changed({})).toEqual({});
    expect(made({})).toEqual({ description: 'd' });
  });

  it.each([
    [0.000000001, 1n],
    [0.1, 100_000_000n],
    [0.3, 300_000_000n],
    [1e-7, 100n],
    [1.000000001, 1_000_000_001n],
    [9_999_999_999, 9_999_999_999_000_000_000n],
    [0, 0n],
    [null, null],
  ])('convert a limit of %s exactly to nano-dollars', (usd, expected) => {
    expect(made({ consumptionLimit: { usd } })).toMatchObject({ usdLimitNano: expected });
    expect(changed({ consumptionLimit: { diem: usd } })).toEqual({ diemLimitNano: expected });
  });

  it.each([
    ['', null],
    ['2026-12-01', '2026-12-01T00:00:00.000Z'],
    ['2026-11-21T10:15:01Z', '2026-11-21T10:15:01.000Z'],
    ['2026-11-21T10:15:00.001Z', '2026-11-21T10:15:00.001Z'],
  ])('accept %j as the expiry', (expiresAt, expected) => {
    expect(made({ expiresAt }).expiresAt?.toISOString() ?? null).toBe(expected);
  });

  it('let an expiry be removed', () => {
    expect(changed({ expiresAt: null })).toEqual({ expiresAt: null });
    expect(changed({ expiresAt: '' })).toEqual({ expiresAt: null });
  });

  it.each(['2026-11-21', '2026-11-21T10:15:00Z', '2020-01-01T00:00:00.000Z'])(
    'reject the past expiry %s',
    (expiresAt) => {
      const refused = (): unknown => made({ expiresAt });
      expect(refused).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', param: 'expiresAt' } as Problem),
      );
    },
  );
});
