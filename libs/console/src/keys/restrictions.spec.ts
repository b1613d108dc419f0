import { describe, expect, it } from 'vitest';
import { entriesIn } from '../text/form-text.js';
import { restrictionTexts } from './restrictions.js';

const KEY = {
  id: '01a21e72-ac88-7f0f-8a96-b40256def6c5',
  apiKeyType: 'INFERENCE',
  description: 'd',
  expiresAt: null,
  consumptionLimits: { usd: null, diem: null, vcu: null },
  limitPeriod: 'EPOCH',
  modelPrivacy: 'ALL',
  last6Chars: 'abcdef',
} as unknown as Parameters<typeof restrictionTexts>[0];

describe('the entries of a list', () => {
  it.each([
    ['', null],
    [' \n , ', null],
    ['llama-*', ['llama-*']],
    ['a, b\nc\t d,,e\r\n', ['a', 'b', 'c', 'd', 'e']],
  ])('of %j are %j', (text, entries) => expect(entriesIn(text)).toEqual(entries));
});

describe('what restricts a key', () => {
  it.each([
    [{}, []],
    [{ allowedModels: ['llama-*'] }, ['llama-*']],
    [{ allowedIps: ['192.0.2.0/24', '2001:db8::1'] }, ['2 addresses']],
    [
      { allowedEndpoints: ['/chat/completions', '/images/*'], canInfer: false },
      ['2 endpoints', 'only manages keys'],
    ],
  ])('is named for %j', (more, texts) =>
    expect(restrictionTexts(Object.assign({}, KEY, more))).toEqual(texts),
  );
});
