import type { Balances } from '@svc/contracts/money';
import { type LimitPeriod, weekOf } from '@svc/contracts/ports';

export const NONE: Balances = { usdNano: 0n, diemNano: 0n };

export const plus = (a: Balances, b: Balances): Balances => ({
  usdNano: a.usdNano + b.usdNano,
  diemNano: a.diemNano + b.diemNano,
});

export const minus = (a: Balances, b: Balances): Balances => ({
  usdNano: a.usdNano - b.usdNano,
  diemNano: a.diemNano - b.diemNano,
});

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export const notBelowZero = (a: Balances): Balances => ({
  usdNano: larger(a.usdNano, 0n),
  diemNano: larger(a.diemNano, 0n),
});

export const sumOf = (all: Iterable<Balances>): Balances => {
  let sum = NONE;
  for (const each of all) sum = plus(sum, each);
  return sum;
};

export const covers = (a: Balances, b: Balances): boolean =>
  a.usdNano >= b.usdNano && a.diemNano >= b.diemNano;
export const same = (a: Balances, b: Balances): boolean =>
  a.usdNano === b.usdNano && a.diemNano === b.diemNano;

/** Whether a UTC hour is in the same period as another one. */
export function inPeriod(period: LimitPeriod, hour: string, now: string): boolean {
  const [day, today] = [hour.slice(0, 10), now.slice(0, 10)];
  switch (period) {
    case 'HOUR':
      return hour === now;
    case 'EPOCH':
      return day === today;
    case 'WEEK':
      return weekOf(day) === weekOf(today);
    case 'MONTH':
      return day.slice(0, 7) === today.slice(0, 7);
    case 'LIFETIME':
      return true;
  }
}
