import { expect, it } from 'vitest';
import { tablesOf } from './tables.js';

it('shows a list as aligned columns, without those that are empty, and how to see more', () => {
  const data = [
    { id: 'a', name: 'First', balances: { usd: '1.00' }, wallet: null },
    { id: 'b', name: 'A longer name', balances: { usd: '10.00' }, wallet: null },
  ];
  expect(tablesOf({ object: 'list', data, nextBefore: 'b' })).toBe(
    [
      'ID  NAME           BALANCES.USD',
      'a   First          1.00',
      'b   A longer name  10.00',
      'More: --before b',
    ].join('\n'),
  );
  expect(tablesOf({ object: 'list', data: [], nextBefore: null })).toBe('None.');
});

it('shows an object as its members, with its lists below', () => {
  expect(tablesOf({ object: 'charge', model: 'm', lines: [{ sku: 's', units: 2 }] })).toBe(
    'model  m\n\nlines\nSKU  UNITS\ns    2',
  );
});

it.each(['\u001B[2J', '\u009B2J', 'a\rb', '\u202Egpj', 'a\nb', '\u0007'])(
  'shows %j without controlling the terminal',
  (text) => {
    const shown = [
      tablesOf({ object: 'list', data: [{ description: text, [text]: [text] }] }),
      tablesOf({ description: text, nested: { text }, list: [{ text }] }),
    ];
    for (const each of shown) expect(each.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
    expect(shown[0]?.split('\n')).toHaveLength(2);
  },
);
