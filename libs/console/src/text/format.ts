import { formatUsd, NANO_PER_USD, numberToNano } from '@svc/contracts/money';

/** An amount as the API sends it, or a sum in nano-dollars. */
export type Amount = number | bigint;

/** A sum needs the exact amount; an amount with more digits than the API sends counts as rounded. */
export const nanoOf = (amount: Amount): bigint =>
  typeof amount === 'bigint' ? amount : (numberToNano(amount) ?? BigInt(Math.round(amount * 1e9)));

const withCommas = (decimal: string): string => {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

const signed = (nano: bigint, text: (positive: bigint) => string): string =>
  nano < 0n ? `−${text(-nano)}` : text(nano);

/** `$1,234.50`, with every decimal that is not zero and at least two. */
export const usd = (amount: Amount): string =>
  signed(nanoOf(amount), (nano) => `$${withCommas(formatUsd(nano))}`);

/** `0.50 DIEM`. */
export const diem = (amount: Amount): string =>
  signed(nanoOf(amount), (nano) => `${withCommas(formatUsd(nano))} DIEM`);

/** `$0.000012000`: all nine decimals, so that amounts below each other can be compared. */
export const usdNine = (amount: Amount): string =>
  signed(nanoOf(amount), (nano) => {
    const whole = withCommas((nano / NANO_PER_USD).toString());
    return `$${whole}.${(nano % NANO_PER_USD).toString().padStart(9, '0')}`;
  });

/** `$0.0670`: the four decimals of a key's usage, for their sum. */
export const usdFour = (amount: Amount): string => usdNine(amount).slice(0, -5);

/** A decimal text of the API, such as the four decimals of a key's usage. */
export const usdText = (text: string): string => (text.startsWith('-') ? `−$${text.slice(1)}` : `$${text}`);

const COUNT = new Intl.NumberFormat('en');
export const count = (value: number): string => COUNT.format(value);

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
/** `131.1K`, for labels with little room. */
export const shortCount = (value: number): string => SHORT.format(value);

/** `2026-11-27 14:03`, in UTC. */
export const utcMinute = (iso: string): string => new Date(iso).toISOString().slice(0, 16).replace('T', ' ');

/** `2026-11-27 14:03:59`, in UTC. */
export const utcSecond = (iso: string): string => new Date(iso).toISOString().slice(0, 19).replace('T', ' ');

/** The same moment where the reader is, for hints. */
export const localTime = (iso: string): string => new Date(iso).toLocaleString();

/** The UTC day of a moment that is some days away from today. */
export const utcDay = (daysFromToday = 0): string =>
  new Date(Date.now() + daysFromToday * 86_400_000).toISOString().slice(0, 10);

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `3 hours ago`, `in 2 days`. */
export function relative(iso: string, nowMs = Date.now()): string {
  const differenceMs = Date.parse(iso) - nowMs;
  const [unit, unitMs] = UNITS.find(([, ms]) => Math.abs(differenceMs) >= ms) ?? ['second', 1_000];
  return unit === 'second' ? 'just now' : RELATIVE.format(Math.round(differenceMs / unitMs), unit);
}

/** `1.24 s` or `840 ms`. */
export const duration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(2)} s`);
