import { describe, expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.js';

const MARK = '\uFEFF';

interface SplitLine {
  readonly number: number;
  readonly text: string | undefined;
}

/** The lines of a text that comes in these parts. */
function linesOf(parts: readonly Uint8Array[], limitBytes = 100): SplitLine[] {
  const lines: SplitLine[] = [];
  const splitter = new LineSplitter(limitBytes, ({ number, bytes }) =>
    lines.push({ number, text: bytes?.toString() }),
  );
  for (const part of parts) splitter.add(Buffer.from(part));
  splitter.end();
  return lines;
}

const numbered = (...texts: readonly (string | undefined)[]): SplitLine[] =>
  texts.flatMap((text, at) => (text === '' ? [] : { number: at + 1, text }));

const TEXTS: readonly (readonly [text: string, lines: readonly (string | undefined)[]])[] = [
  ['', []],
  [MARK, []],
  [`${MARK}a\nb`, ['a', 'b']],
  [`${MARK}\n${MARK}a`, ['', `${MARK}a`]],
  [`${MARK}${MARK}a`, [`${MARK}a`]],
  ['a\r\n\r\n \t\r\nb\r\n', ['a', '', '', 'b']],
  ['a\n\n\nb\n\n', ['a', '', '', 'b']],
  ['a\rb\r\r\n', ['a\rb\r']],
  [`${'x'.repeat(12)}\n${'y'.repeat(13)}\nz`, ['x'.repeat(12), undefined, 'z']],
  [`${' '.repeat(20)}\nz`, ['', 'z']],
  ['ä€😀\n😀', ['ä€😀', '😀']],
];

describe.each(TEXTS)('the text %j', (text, expected) => {
  const bytes = Buffer.from(text);
  const lines = numbered(...expected);

  it('has the same lines, wherever it is split into two or three parts', () => {
    const different: unknown[] = [];
    for (let first = 0; first <= bytes.length; first += 1)
      for (let second = first; second <= bytes.length; second += 1) {
        const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        const split = linesOf(parts, 12);
        if (JSON.stringify(split) !== JSON.stringify(lines)) different.push({ first, second, split });
      }
    expect(different).toEqual([]);
  });

  it('has the same lines byte by byte', () => {
    expect(
      linesOf(
        Array.from(bytes, (byte) => Buffer.from([byte])),
        12,
      ),
    ).toEqual(lines);
  });

  it('has as many lines when they are only counted', () => {
    expect(linesOf([bytes], 0).map(({ number }) => number)).toEqual(lines.map(({ number }) => number));
  });
});

it.each([
  [[0xef], 1],
  [[0xef, 0xbb], 2],
  [[0xef, 0xbb, 0x61], 3],
  [[0xef, 0x0a, 0xbb], 1],
])('keeps the bytes %j, which only begin like a byte order mark', (codes, length) => {
  const kept: number[] = [];
  const splitter = new LineSplitter(100, ({ bytes }) => kept.push(bytes?.length ?? 0));
  for (const code of codes) splitter.add(Buffer.from([code]));
  splitter.end();
  expect(kept[0]).toBe(length);
});
