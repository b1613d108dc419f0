import { describe, expect, it } from 'vitest';
import { CitationMarkers } from './citation-markers.js';

function shown(pieces: readonly string[], sources: number): string {
  const markers = new CitationMarkers(sources);
  return pieces.map((piece) => markers.read(piece)).join('') + markers.end();
}

const TEXTS: readonly (readonly [text: string, shown: string])[] = [
  ['It is so.[REF]0[/REF] And so.[REF]2[/REF]', 'It is so.[REF]0[/REF] And so.[REF]2[/REF]'],
  ['a[REF]3[/REF]b[REF]99[/REF]c', 'abc'],
  ['a[REF]0, 2[/REF]b', 'a[REF]0[/REF][REF]2[/REF]b'],
  ['a[REF]1,7[/REF]b', 'a[REF]1[/REF]b'],
  ['a[REF][/REF]b[REF] [/REF]', 'ab'],
  ['[REF] 1 [/REF]', '[REF]1[/REF]'],
  ['list[0] and [RE] and [REF]erence[/REF]', 'list[0] and [RE] and [REF]erence[/REF]'],
  ['[[REF]1[/REF]]', '[[REF]1[/REF]]'],
  ['[REF][REF]1[/REF]', '[REF][REF]1[/REF]'],
  ['cut [REF]1', 'cut '],
  ['cut [REF]1[/RE', 'cut '],
  ['cut [RE', 'cut [RE'],
  [`[REF]${'1,'.repeat(60)}`, `[REF]${'1,'.repeat(60)}`],
];

describe('CitationMarkers', () => {
  it.each(TEXTS)('keeps only citations with a source in %s', (text, wanted) => {
    expect(shown([text], 3)).toBe(wanted);
  });

  it.each(TEXTS)('gives the same result for %s wherever it is split', (text, wanted) => {
    expect(shown([...text], 3)).toBe(wanted);
    for (let at = 0; at <= text.length; at += 1)
      expect(shown([text.slice(0, at), text.slice(at)], 3)).toBe(wanted);
  });

  it('holds back at most one marker', () => {
    const markers = new CitationMarkers(1);
    expect(markers.read('a [REF]0')).toBe('a ');
    expect(markers.read(`${','.repeat(80)}`)).toBe(`[REF]0${','.repeat(80)}`);
  });

  it('takes linear time', () => {
    const leastMs = (texts: readonly string[]): number =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const startMs = performance.now();
          for (const text of texts) shown([text], 1);
          return performance.now() - startMs;
        }),
      );
    const part = '[REF]'.repeat(5_000);
    const inPartsMs = leastMs(Array.from({ length: 16 }, () => part));
    // The same number of characters: quadratic work would take 16 times as long for the whole.
    expect(leastMs([part.repeat(16)]) / inPartsMs).toBeLessThan(6);
  });
});
