import { ApiKeyView, PlainApiKeyView } from '@svc/api/keys';
import type { KeySpend } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { apiKeyView, fourDecimals, newApiKeyView, plainApiKeyView } from './api-key-views.js';
import { type StoredKey } from '@svc/identity/accounts';

const KEY: StoredKey = {
  id: '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55',
  accountId: '7f0c0a52-6c53-4a5e-9a55-0d2f6f0f7c11',
  apiKeyType: 'INFERENCE',
  last6: 'x7Qa2b',
  createdAt: new Date('2026-11-21T10:15:00.000Z'),
  lastUsedAt: null,
  description: 'website',
  expiresAt: null,
  usdLimitNano: null,
  diemLimitNano: null,
  limitPeriod: 'EPOCH',
  requestLimitNano: null,
  modelPrivacy: 'ALL',
  requestsPerMinute: null,
  tokensPerMinute: null,
  requestsPerDay: null,
  tokensPerDay: null,
  tags: [],
  allowedModels: [],
  allowedEndpoints: [],
  allowedIps: [],
  canInfer: true,
  isDisabled: false,
  fallbackModels: [],
  fallbackOn: [],
};

const spent = (usdNano: bigint): KeySpend['epoch'] => ({ usdNano, diemNano: usdNano * 2n });
const SPEND: KeySpend = {
  keyId: KEY.id,
  trailingSevenDays: spent(70_000_000n),
  hour: spent(5_000_000n),
  epoch: spent(10_000_000n),
  week: spent(20_000_000n),
  month: spent(30_000_000n),
  lifetime: spent(90_000_000n),
};

describe('the view of a key', () => {
  it('includes the spend of seven days, and of the current period only if the key has a limit', () => {
    const view = apiKeyView(KEY, SPEND);
    expect(ApiKeyView.strict().parse(view)).toEqual(view);
    expect(view.usage).toEqual({ trailingSevenDays: { usd: '0.0700', vcu: '0.0000', diem: '0.1400' } });
    expect(view).not.toHaveProperty('currentPeriodUsage');
    expect(view.consumptionLimits).toEqual({ usd: null, diem: null, vcu: null });
    expect(view).not.toHaveProperty('requestsPerMinute');
  });

  it.each([
    ['HOUR', '0.0050'],
    ['EPOCH', '0.0100'],
    ['WEEK', '0.0200'],
    ['MONTH', '0.0300'],
    ['LIFETIME', '0.0900'],
  ] as const)('includes the spend of its period %s if the key has a limit', (limitPeriod, usd) => {
    const view = apiKeyView({ ...KEY, limitPeriod, diemLimitNano: 0n }, SPEND);
    expect(view.currentPeriodUsage).toMatchObject({ usd });
    expect(view.consumptionLimits).toEqual({ usd: null, diem: 0, vcu: null });
  });

  it('omits the spend when it is unknown', () => {
    expect(apiKeyView({ ...KEY, usdLimitNano: 1n }, undefined)).not.toHaveProperty('usage');
  });

  it('shows limits as the numbers of the request', () => {
    const { consumptionLimits } = plainApiKeyView({
      ...KEY,
      usdLimitNano: 9_999_999_999_000_000_000n,
      diemLimitNano: 100_000_000n,
    });
    expect(consumptionLimits).toEqual({ usd: 9_999_999_999, diem: 0.1, vcu: null });
  });

  it('shows rate limits only if they are set', () => {
    const view = plainApiKeyView({ ...KEY, requestsPerMinute: 5 });
    expect(PlainApiKeyView.strict().parse(view)).toEqual(view);
    expect(view.requestsPerMinute).toBe(5);
    expect(view).not.toHaveProperty('tokensPerMinute');
  });

  it('contains the secret on creation only, and names the limits `consumptionLimit` there', () => {
    const view = newApiKeyView({ key: { ...KEY, usdLimitNano: 5n }, secret: 'SVC_INFERENCE_KEY_s' });
    expect(view).toEqual({
      id: KEY.id,
      apiKey: 'SVC_INFERENCE_KEY_s',
      apiKeyType: 'INFERENCE',
      description: 'website',
      expiresAt: null,
      consumptionLimit: { usd: 5e-9, diem: null, vcu: null },
      limitPeriod: 'EPOCH',
      modelPrivacy: 'ALL',
    });
  });
});

describe('an amount with four decimals', () => {
  it.each([
    [0n, '0.0000'],
    [49_999n, '0.0000'],
    [50_000n, '0.0001'],
    [1_234_567_890n, '1.2346'],
    [12_345_000_000_000n, '12345.0000'],
  ])('shows %s nano-dollars as %s', (nano, text) => expect(fourDecimals(nano)).toBe(text));
});
