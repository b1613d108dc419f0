import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The most characters counted in one call. Texts without any space or punctuation take longest, a few
 * milliseconds.
 */
const SLICE_CHARACTERS = 512;

/** Milliseconds of counting before yielding to the event loop. */
const TURN_MS = 2;

/** Punctuation before which Chinese and Japanese text can be cut without splitting a token. */
const FULL_WIDTH_PUNCTUATION = '、。，！？；：';

/**
 * Counts tokens without blocking the event loop. Exact, except for texts with hundreds of letters without a
 * space or punctuation, whose count is at most one or two too high per `SLICE_CHARACTERS`.
 */
export class Tokenizer {
  constructor(private readonly countSlice: (text: string) => number) {}

  /** The total tokens of the texts. No token spans two of them. */
  async count(texts: Iterable<string>): Promise<number> {
    let tokens = 0;
    let turnEndsMs = performance.now() + TURN_MS;
    for (const text of texts) {
      for (let start = 0; start < text.length;) {
        const end = sliceEnd(text, start);
        tokens += this.countSlice(text.slice(start, end));
        start = end;
        if (performance.now() < turnEndsMs) continue;
        await nextTurn();
        turnEndsMs = performance.now() + TURN_MS;
      }
    }
    return tokens;
  }
}

/** The end of a slice: the last place where no token of these vocabularies continues, if there is one. */
function sliceEnd(text: string, start: number): number {
  const most = start + SLICE_CHARACTERS;
  if (most >= text.length) return text.length;
  for (let at = most; at > start; at -= 1) if (isBoundary(text, at)) return at;
  const isInsidePair = /[\udc00-\udfff]/.test(text.charAt(most));
  return isInsidePair ? most - 1 : most;
}

/**
 * In each of these vocabularies, a new token begins at a space after a non-space, and at punctuation after a
 * letter.
 */
function isBoundary(text: string, at: number): boolean {
  const [before, after] = [text.charAt(at - 1), text.charAt(at)];
  if (after === ' ') return /\S/.test(before);
  return FULL_WIDTH_PUNCTUATION.includes(after) && /\p{L}/u.test(before);
}
