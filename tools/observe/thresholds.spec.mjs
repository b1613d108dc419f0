import { expect, it } from 'vitest';
import { thresholdsOf } from './thresholds.mjs';

const stepsOf = (bad, unit) =>
  thresholdsOf({ title: 'A panel', bad, unit }).map(({ value, color }) => `${value} ${color}`);

it.each([
  ['Above 100 ms: it is a part of every response.', 's', ['null green', '0.1 red']],
  ['Above 15 minutes.', 's', ['null green', '900 red']],
  ['p95 above 2.5 s.', 's', ['null green', '2.5 red']],
  ['Above 0.1 %.', 'percentunit', ['null green', '0.001 red']],
  ['Below 0: too little is left.', 'percentunit', ['null red', '0 green']],
  ['0: no room.', 'short', ['null red', '1 green']],
  ['1: each process counts limits on its own.', 'short', ['null green', '1 red']],
  ['Growth. 50,000: events are refused.', 'short', ['null green', '50000 red']],
  ['Any: money is lost.', 'short', ['null green', '1e-9 red']],
  [
    'Above 1 for days, above 6 for hours, above 14 at all.',
    'short',
    ['null green', '1 yellow', '6 orange', '14 red'],
  ],
  ['Above 1 % of what is charged.', 'currencyUSD', ['null green']],
  ['Growth.', 's', ['null green']],
])('colours a panel by "%s"', (bad, unit, steps) => {
  expect(stepsOf(bad, unit)).toEqual(steps);
});

it('refuses a duration without its unit', () => {
  expect(() => stepsOf('Above 30.', 's')).toThrow('30 of what?');
});
