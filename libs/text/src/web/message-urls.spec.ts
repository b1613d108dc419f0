import { describe, expect, it } from 'vitest';
import { urlsIn } from './message-urls.js';

describe('urlsIn', () => {
  it.each([
    ['Read https://a.example/x.', ['https://a.example/x']],
    [
      '(see https://a.example/a_(b)), and [this](http://b.example/?q=1#part)!',
      ['https://a.example/a_(b)', 'http://b.example/?q=1#part'],
    ],
    ['https://a.example and HTTPS://A.example/', ['https://a.example/']],
    ['"https://a.example/x", <https://b.example/>', ['https://a.example/x', 'https://b.example/']],
    ['**https://a.example/bold**', ['https://a.example/bold']],
    ['https:// http://[ ftp://a.example no.example', []],
  ])('finds the URLs in %s', (text, urls) => {
    expect(urlsIn(text, 5)).toEqual(urls);
  });

  it('finds each page once, however its URL is written, and keeps the first spelling', () => {
    const text =
      'https://a.example/x#one https://a.example/x#two https://a.example/x HTTPS://A.EXAMPLE:443/y/../x# https://a.example./x';
    expect(urlsIn(`${text} https://a.example/X https://a.example/x?#`, 5)).toEqual([
      'https://a.example/x#one',
      'https://a.example/X',
      'https://a.example/x?#',
    ]);
  });

  it('finds at most the given number of pages, without duplicates', () => {
    const text = Array.from({ length: 20 }, (_, n) => `https://a.example/${n % 8}`).join(' ');
    expect(urlsIn(text, 5)).toEqual([0, 1, 2, 3, 4].map((n) => `https://a.example/${n}`));
  });

  it('takes linear time', () => {
    const hostile = `https://a.example/${'('.repeat(1_900)}${')'.repeat(90)} `.repeat(50);
    expect(urlsIn(hostile, 5).length).toBeGreaterThan(0);
    expect(urlsIn(`https://a.example/${')'.repeat(100_000)}`, 5)).toEqual(['https://a.example/']);
  });

  it('takes time proportional to the number of brackets at the end of a URL', () => {
    const addresses = (count: number, brackets: number): string =>
      Array.from({ length: count }, (_, n) => `https://a.example/${n}${')'.repeat(brackets)} `).join('');
    const leastMs = (texts: readonly string[]): number =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const startMs = performance.now();
          for (const text of texts) urlsIn(text, 50);
          return performance.now() - startMs;
        }),
      );
    const shortMs = leastMs(Array.from({ length: 16 }, () => addresses(49, 123)));
    // The same number of brackets: quadratic work would take 16 times as long for the long URLs.
    expect(leastMs([addresses(49, 1_968)]) / shortMs).toBeLessThan(6);
  });
});
