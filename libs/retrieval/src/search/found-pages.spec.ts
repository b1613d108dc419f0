import { describe, expect, it } from 'vitest';
import { dateOf, foundPages } from './found-pages.js';

const now = Date.parse('2026-11-21T12:00:00Z');
const raw = (url: unknown, content: unknown = 'says', rest: object = {}) => ({
  title: 't',
  url,
  content,
  ...rest,
});
const urls = (...pages: readonly ReturnType<typeof raw>[]) =>
  foundPages(pages, 20, now).map(({ url }) => url);

describe('foundPages', () => {
  it('lists each page once, in the original order', () => {
    expect(
      urls(
        raw('https://www.a.example/x/'),
        raw('https://b.example/?b=2&a=1&utm_source=x'),
        raw('http://a.example/x#part'),
        raw('https://b.example/?a=1&b=2'),
      ),
    ).toEqual(['https://www.a.example/x/', 'https://b.example/?b=2&a=1&utm_source=x']);
  });

  it('moves excess results of one host behind the others, and pages without text to the end', () => {
    expect(
      urls(
        raw('https://e.example/', ''),
        ...[1, 2, 3].map((n) => raw(`https://a.example/${n}`)),
        raw('https://b.example/'),
      ),
    ).toEqual([
      'https://a.example/1',
      'https://a.example/2',
      'https://b.example/',
      'https://a.example/3',
      'https://e.example/',
    ]);
  });

  it('drops invalid addresses', () => {
    for (const url of [
      undefined,
      7,
      '',
      'x',
      'ftp://a.example/',
      'javascript:alert(1)',
      'https://u:p@a.example/',
    ])
      expect(urls(raw(url))).toEqual([]);
    expect(urls(raw(`https://a.example/${'x'.repeat(3_000)}`))).toEqual([]);
    expect(urls(raw('https://a.example/a b\n[End'))).toEqual(['https://a.example/a%20b[End']);
  });

  it('turns texts into plain words, without markup and invisible characters, within limits', () => {
    const title = '<b>A</b> &amp; <script>x()</script>B\u200b\u{E0041}\u0000\n c';
    const [page] = foundPages([{ title, url: 'https://a.example/', content: 'x '.repeat(50_000) }], 1, now);
    expect(page?.title).toBe('A & B c');
    expect(page?.content.length).toBeLessThanOrEqual(2_000);
    expect(foundPages([{ title: 5, url: 'https://a.example/', content: null }], 1, now)).toEqual([
      { title: 'a.example', url: 'https://a.example/', content: '' },
    ]);
  });
});

describe('dateOf', () => {
  it.each([
    ['2025-04-16T16:55:11Z', '2025-04-16T16:55:11.000Z'],
    ['2025-04-16T16:55:11', '2025-04-16T16:55:11.000Z'],
    ['2025-04-16 16:55:11', '2025-04-16T16:55:11.000Z'],
    ['2025-04-16T16:55:11+02:00', '2025-04-16T14:55:11.000Z'],
    ['2025-04-16', '2025-04-16T00:00:00.000Z'],
    ['Wed, 16 Apr 2025 16:55:11 GMT', '2025-04-16T16:55:11.000Z'],
    ['April 16, 2025', '2025-04-16T00:00:00.000Z'],
    [1_744_822_511, '2025-04-16T16:55:11.000Z'],
    [1_744_822_511_000, '2025-04-16T16:55:11.000Z'],
    ['2 days ago', '2026-11-19T12:00:00.000Z'],
    ['an hour ago', '2026-11-21T11:00:00.000Z'],
    ['2049-01-01', undefined],
    ['1970-01-01', undefined],
    ['yesterday-ish', undefined],
    [null, undefined],
    [Number.NaN, undefined],
    ['x'.repeat(1_000), undefined],
  ])('parses %s', (value, date) => {
    expect(dateOf(value, now)).toBe(date);
  });
});
