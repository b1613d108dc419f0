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
  ])('finds in %s', (text, urls) => {
    expect(urlsIn(text, 5)).toEqual(urls);
  });

  it('finds as many as it may, each once', () => {
    const text = Array.from({ length: 20 }, (_, n) => `https://a.example/${n % 8}`).join(' ');
    expect(urlsIn(text, 5)).toEqual([0, 1, 2, 3, 4].map((n) => `https://a.example/${n}`));
  });

  it('takes time that grows with the text', () => {
    const hostile = `https://a.example/${'('.repeat(1_900)}${')'.repeat(90)} `.repeat(50);
    expect(urlsIn(hostile, 5).length).toBeGreaterThan(0);
    expect(urlsIn(`https://a.example/${')'.repeat(100_000)}`, 5)).toEqual(['https://a.example/']);
  });

  it('takes no longer for an address of brackets than for another', () => {
    const textOf = (character: string): string =>
      Array.from({ length: 49 }, (_, n) => `https://a.example/${n}${character.repeat(1_980)} `).join('');
    const leastMs = (text: string): number =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const began = performance.now();
          urlsIn(text, 50);
          return performance.now() - began;
        }),
      );
    const plainMs = leastMs(textOf('a'));
    // Looked through again for each of them it would be a thousand times.
    expect(leastMs(textOf(')')) / plainMs).toBeLessThan(50);
  });
});
