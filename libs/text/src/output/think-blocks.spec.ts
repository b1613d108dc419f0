import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SplitText, ThinkBlocks } from './think-blocks.js';

/** The same rules applied to a whole text. */
function reference(text: string, inside: boolean): SplitText {
  let visible = '';
  let thinking = '';
  let isThinking = inside;
  let isAfterBlock = false;
  for (const part of text.split(/(<think>|<\/think>)/)) {
    if (part === '</think>') {
      isThinking = false;
      isAfterBlock = visible.trim() === '';
    } else if (isThinking) {
      thinking += part;
    } else if (part === '<think>') {
      isThinking = true;
    } else {
      visible += isAfterBlock ? part.trimStart() : part;
    }
  }
  return { visible, thinking };
}

function readAll(pieces: readonly string[], inside = false): SplitText {
  const blocks = new ThinkBlocks(inside);
  const parts = [...pieces.map((piece) => blocks.read(piece)), blocks.end()];
  return {
    visible: parts.map(({ visible }) => visible).join(''),
    thinking: parts.map(({ thinking }) => thinking).join(''),
  };
}

/** A text split at some of its code units, possibly inside surrogate pairs. */
function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.toSorted((one, other) => one - other), text.length];
  return sorted.slice(1).map((place, index) => text.slice(sorted[index], place));
}

const fragment = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('<think>', '</think>', '<', '</', '<thi', 'think>', '</thin', '>'),
  },
  { weight: 2, arbitrary: fc.constantFrom(' ', '\n\n', '\u00a0', 'é🙂', 'a < b', '<b>', '<<think>') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
);
const texts = (maxLength: number) => fc.array(fragment, { maxLength }).map((fragments) => fragments.join(''));

describe('ThinkBlocks', () => {
  it.each([
    ['a block at the start, with the white space after it', '<think>\nhm 🙂\n</think>\n\nHi', 'Hi'],
    ['a block in the middle, but not the white space around it', 'a <think>x</think> b', 'a  b'],
    ['several blocks', '<think>a</think>\n<think>b</think>\n\nHi<think>c</think>!', 'Hi!'],
    ['an empty block', '<think>\n\n</think>\n\nHi', 'Hi'],
    ['a block that is never closed', 'Hi <think>and then', 'Hi '],
    ['a closing tag without a block', 'Hi</think> you', 'Hi you'],
    ['an opening tag inside reasoning', '<think>write <think> first</think>Hi', 'Hi'],
    [
      'nothing for text that only resembles a tag',
      'if a<b then <thinker> </thin',
      'if a<b then <thinker> </thin',
    ],
    ['nothing without a block', '  Hi\n', '  Hi\n'],
  ])('removes %s', (_, text, visible) => {
    expect(readAll([text]).visible).toBe(visible);
  });

  it('starts inside a block and removes everything up to its closing tag', () => {
    expect(readAll(['hm</think>\n\nHi'], true)).toEqual({ visible: 'Hi', thinking: 'hm' });
    expect(readAll(['hm'], true)).toEqual({ visible: '', thinking: 'hm' });
  });

  it('gives the same result as the rules for a whole text', () => {
    fc.assert(
      fc.property(texts(12), fc.boolean(), (text, inside) => {
        expect(readAll([text], inside)).toEqual(reference(text, inside));
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives the same result at every two cuts of a short input, and character by character', () => {
    fc.assert(
      fc.property(texts(4), fc.boolean(), (text, inside) => {
        const whole = reference(text, inside);
        for (let first = 0; first <= text.length; first += 1) {
          for (let second = first; second <= text.length; second += 1)
            expect(readAll(cut(text, [first, second]), inside)).toEqual(whole);
        }
        expect(readAll(text.split(''), inside)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  it('gives the same result at any cuts of a long input', () => {
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 });
    fc.assert(
      fc.property(texts(60), fc.boolean(), cuts, (text, inside, shares) => {
        const places = shares.map((share) => Math.floor(share * text.length));
        expect(readAll(cut(text, places), inside)).toEqual(reference(text, inside));
      }),
      { numRuns: 1_000 },
    );
  });

  it('holds back at most the beginning of a tag', () => {
    const untagged = texts(12).map((text) => text.replaceAll(/<\/?think>/g, '<'));
    fc.assert(
      fc.property(untagged, fc.boolean(), (text, inside) => {
        // Removing tags may have created new ones.
        fc.pre(!/<\/?think>/.test(text));
        const blocks = new ThinkBlocks(inside);
        let open = 0;
        for (const piece of text.split('')) {
          const { visible, thinking } = blocks.read(piece);
          open += 1 - visible.length - thinking.length;
          expect(open).toBeLessThan('</think>'.length);
        }
        expect(open).toBe(blocks.end()[inside ? 'thinking' : 'visible'].length);
      }),
    );
    expect(new ThinkBlocks().read('a </think').visible).toBe('a ');
    expect(new ThinkBlocks().read('a <thinks').visible).toBe('a <thinks');
  });
});
