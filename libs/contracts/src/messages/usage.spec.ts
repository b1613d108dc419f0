import { expect, it } from 'vitest';
import { eventText } from './events.js';
import { unitOf, unitView } from '../money/units.js';
import {
  type Charge,
  NO_USAGE,
  UsageRecorded,
  chargeLine,
  decodeCharge,
  encodeCharge,
  givenBack,
  usageRecorded,
} from './usage.js';

const token = { sku: 'm-llm-input-mtoken', unit: 'token', priceNanoPerMillion: 150_000_001n } as const;
const page = { sku: 'web-scrape-page', unit: 'page', priceNanoPerMillion: 10_000_000_000_000n } as const;

const charge: Charge = {
  requestId: 'r',
  accountId: 'a',
  keyId: 'k',
  model: 'm',
  backend: 'b',
  at: '2026-11-21T10:00:00.000Z',
  usage: NO_USAGE,
  lines: [chargeLine(token, 3), chargeLine(page, 2)],
  cost: { usdNano: 20_000_451n, diemNano: 0n },
  writeOffNano: 0n,
  durationMs: 1,
};

it('prices tokens, rounding up once, and pieces exactly', () => {
  expect(charge.lines.map(({ amountNano }) => amountNano)).toEqual([451n, 20_000_000n]);
});

it('decodes a charge to what was encoded', () => {
  expect(decodeCharge(UsageRecorded.parse(JSON.parse(JSON.stringify(encodeCharge(charge)))))).toEqual(charge);
});

it.each([
  ['a charge', charge],
  ['a charge of an end user', { ...charge, endUser: 'u' }],
  ['a request that is given back', givenBack(charge)],
])('reads %s from the log as it was published', (_what, published) => {
  const text = eventText(usageRecorded, published);
  expect(usageRecorded.payload.parse(JSON.parse(text))).toEqual(published);
});

it('decodes a charge of an earlier release, whose lines have no unit', () => {
  const { lines, ...rest } = encodeCharge(charge);
  const old = { ...rest, lines: lines.map(({ unit: _, ...line }) => line) };
  expect(decodeCharge(UsageRecorded.parse(old))).toEqual(charge);
});

it('decodes a charge of a newer release with a unit that this one does not know', () => {
  const line = { ...chargeLine(page, 2), unit: 'megapixel' };
  expect(decodeCharge(UsageRecorded.parse(encodeCharge({ ...charge, lines: [line] }))).lines).toEqual([line]);
  expect(unitView('megapixel')).toEqual({ shownAs: 'megapixel', size: 1_000_000 });
});

it.each([
  ['m-llm-cache-input-mtoken', 'token'],
  ['web-search-request', 'request'],
  ['web-scrape-page', 'page'],
])('takes the unit of a stored %s without one from its SKU', (sku, unit) => {
  expect(unitOf({ sku, unit: null })).toBe(unit);
  expect(unitOf({ sku })).toBe(unit);
  expect(unitOf({ sku, unit: 'credit' })).toBe('credit');
});
