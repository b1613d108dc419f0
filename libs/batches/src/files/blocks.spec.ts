import { expect, it } from 'vitest';
import { rangeOf } from './blocks.js';

it.each([
  ['bytes=0-0', { from: 0, to: 1 }],
  ['bytes=2-5', { from: 2, to: 6 }],
  ['bytes=2-', { from: 2, to: 10 }],
  ['bytes=2-999999999999999', { from: 2, to: 10 }],
  ['bytes=-3', { from: 7, to: 10 }],
  ['bytes=-30', { from: 0, to: 10 }],
  ['bytes=10-', null],
  ['bytes=10-12', null],
  ['bytes=-0', null],
  ['bytes=5-2', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,3-4', undefined],
  ['bytes=1.5-2', undefined],
  ['lines=0-1', undefined],
  [`bytes=${'9'.repeat(40)}-`, undefined],
  ['', undefined],
  [undefined, undefined],
])('takes %j for the range %j of 10 bytes', (header, expected) => {
  expect(rangeOf(header, 10)).toEqual(expected);
});
