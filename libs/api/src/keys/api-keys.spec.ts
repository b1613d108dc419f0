import { describe, expect, it } from 'vitest';
import { AccountLimits } from './account-limits.js';
import { ApiKeyChange, NewApiKey } from './api-keys.js';
import { numberToNano } from '@svc/contracts/money';

const KEY = { apiKeyType: 'INFERENCE', description: 'd' };
const faults = (
  schema: typeof NewApiKey | typeof ApiKeyChange | typeof AccountLimits,
  value: object,
): string[] => (schema.safeParse(value).error?.issues ?? []).map(({ path }) => path.join('.'));

describe('a new key', () => {
  it.each([
    [{}],
    [{ expiresAt: '' }],
    [{ expiresAt: null }],
    [{ expiresAt: '2028-02-29' }],
    [{ expiresAt: '2027-01-31T23:59:59.999Z' }],
    [{ consumptionLimit: {} }],
    [{ consumptionLimit: { usd: 0, diem: null, vcu: 12.5 } }],
    [{ consumptionLimit: { usd: 9_999_999_999 }, limitPeriod: 'LIFETIME', modelPrivacy: 'PRIVATE_TEXT' }],
    [{ description: '', requestsPerMinute: 1, tokensPerMinute: 1_000 }],
  ])('accepts %j', (more) => expect(faults(NewApiKey, { ...KEY, ...more })).toEqual([]));

  it.each([
    [{ apiKeyType: 'ROOT' }, 'apiKeyType'],
    [{ description: undefined }, 'description'],
    [{ description: 'x'.repeat(65) }, 'description'],
    [{ expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ expiresAt: '2027-02-29' }, 'expiresAt'],
    [{ expiresAt: '2027-01-31T24:00:00Z' }, 'expiresAt'],
    [{ expiresAt: '2027-01-31T12:00:00+01:00' }, 'expiresAt'],
    [{ consumptionLimit: null }, 'consumptionLimit'],
    [{ consumptionLimit: { usd: -1 } }, 'consumptionLimit.usd'],
    [{ consumptionLimit: { usd: '1' } }, 'consumptionLimit.usd'],
    [{ consumptionLimit: { usd: 10_000_000_000 } }, 'consumptionLimit.usd'],
    [{ consumptionLimit: { diem: 0.0000000001 } }, 'consumptionLimit.diem'],
    [{ consumptionLimit: { diem: 1.0000000001 } }, 'consumptionLimit.diem'],
    [{ consumptionLimit: { eur: 1 } }, 'consumptionLimit'],
    [{ limitPeriod: 'YEAR' }, 'limitPeriod'],
    [{ modelPrivacy: 'NONE' }, 'modelPrivacy'],
    [{ requestsPerMinute: 0 }, 'requestsPerMinute'],
    [{ tokensPerMinute: 1.5 }, 'tokensPerMinute'],
    [{ consumptionLimits: {} }, ''],
  ])('rejects %j', (more, path) => expect(faults(NewApiKey, { ...KEY, ...more })).toEqual([path]));
});

describe('a change of a key', () => {
  it('may remove the expiry, and may not turn a key into an ADMIN key', () => {
    expect(faults(ApiKeyChange, { id: 'k', expiresAt: null })).toEqual([]);
    expect(faults(ApiKeyChange, { id: 'k', apiKeyType: 'ADMIN' })).toEqual(['']);
    expect(faults(ApiKeyChange, { description: 'd' })).toEqual(['id']);
  });
});

describe("an account's limits", () => {
  it('name each model once', () => {
    const models = [{ model: '*', requestsPerMinute: 1 }, { model: '*' }];
    expect(faults(AccountLimits, { models })).toEqual(['models']);
    expect(AccountLimits.parse({})).toEqual({ concurrentRequests: null, models: [] });
  });
});

describe('a JSON number', () => {
  it.each([
    [1e-9, 1n],
    [123.456, 123_456_000_000n],
    [999_999_999_999, 999_999_999_999_000_000_000n],
    [1.5e-9, undefined],
    [1e-10, undefined],
    [1e21, undefined],
    [0.12345678912, undefined],
  ])('%s is %s nano-dollars', (amount, nano) => expect(numberToNano(amount)).toBe(nano));
});
