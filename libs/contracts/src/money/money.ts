/**
 * Money is an integer count of nano-dollars (1e-9 USD) in a `bigint`. DIEM, the daily staking credit, is a
 * second currency of the same unit. Decimal strings and JSON numbers exist only at the edge.
 */
export type Currency = 'USD' | 'DIEM';

/** What an account can spend, by currency, in nano-dollars. */
export interface Balances {
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

export const NANO_PER_USD = 1_000_000_000n;

const DECIMAL = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?$/;

/** `"10.5"` to nano-dollars; `undefined` unless the text is a decimal of at most 12 + 9 digits. */
export function parseUsd(text: string): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign, whole, fraction = ''] = match;
  const nano = BigInt(whole ?? '0') * NANO_PER_USD + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -nano : nano;
}

/** Nano-dollars to the shortest exact decimal string with at least two decimals: `"10.00"`, `"0.000012"`. */
export function formatUsd(nano: bigint): string {
  // Most accounts have no DIEM.
  if (nano === 0n) return '0.00';
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, '0');
  let end = digits.length;
  while (end > digits.length - 7 && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const point = digits.length - 9;
  return `${nano < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

const ZERO = 0x30;

/** Nano-dollars as the JSON number of an API response. Exact to nine decimals below 2^23 USD. */
export function usdNumber(nano: bigint): number {
  return Number(nano) / 1e9;
}

/** A JSON number to nano-dollars; `undefined` if it has more than nine decimals or too many digits. */
export function numberToNano(amount: number): bigint | undefined {
  const text = String(amount);
  if (!text.includes('e')) return parseUsd(text);
  // Small numbers are formatted with an exponent.
  const fixed = amount.toFixed(9);
  return Number(fixed) === amount ? parseUsd(fixed) : undefined;
}

/** A number from a configuration file, such as 0.15, to nano-dollars; rounds past 9 decimals. */
export function usdToNano(usd: number): bigint {
  const nano = parseUsd(usd.toFixed(9));
  if (nano === undefined) throw new RangeError(`${usd} is no amount of USD`);
  return nano;
}

/** The cost of `units` at a price in nano-dollars per million units, rounded up once. */
export function pricedNano(units: number, priceNanoPerMillion: bigint): bigint {
  return (BigInt(units) * priceNanoPerMillion + 999_999n) / 1_000_000n;
}

export const NO_MONEY: Balances = { usdNano: 0n, diemNano: 0n };

/** The sum of two amounts, in each currency. */
export function plus(a: Balances, b: Balances): Balances {
  return { usdNano: a.usdNano + b.usdNano, diemNano: a.diemNano + b.diemNano };
}

/** An amount less another, in each currency; below zero if the other is more. */
export function minus(a: Balances, b: Balances): Balances {
  return { usdNano: a.usdNano - b.usdNano, diemNano: a.diemNano - b.diemNano };
}

/** The sum of both currencies. */
export function totalNano(balances: Balances): bigint {
  return balances.usdNano + balances.diemNano;
}
