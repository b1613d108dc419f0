import fc from 'fast-check';
import { expect, it } from 'vitest';
import { weekOf } from './ledger.js';

const DAY_MS = 86_400_000;
const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

it('a week begins on a Monday, and has the six days after it', () => {
  const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2199-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(day, (date) => {
      const monday = weekOf(date.toISOString().slice(0, 10));
      expect(new Date(monday).getUTCDay()).toBe(1);
      expect([0, 1, 2, 3, 4, 5, 6].map((days) => weekOf(dayAfter(monday, days)))).toEqual(
        Array.from({ length: 7 }, () => monday),
      );
      expect(weekOf(dayAfter(monday, 7))).toBe(dayAfter(monday, 7));
    }),
  );
});
