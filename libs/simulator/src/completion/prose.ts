import type { Random } from '../random.js';
import { tokenize } from '../tokenizer.js';

const WORDS =
  'the a river stone quiet morning light over under green field small boat slowly drifts along old bridge where children watch and wonder about distant hills clouds gather before evening rain falls softly on garden paths every lantern glows warm inside while someone reads letters from another season wind carries songs across water birds return with spring carefully remembered maps show roads that no longer lead home yet travellers keep walking together'.split(
    ' ',
  );
/** Words of two-, three- and four-byte characters. */
const INTERNATIONAL_WORDS = [
  'café',
  'naïve',
  'Zürich',
  'déjà',
  '日本',
  '東京',
  'привет',
  'Ελλάδα',
  '🙂',
  '🚀',
  '—',
];
/**
 * The share of completions with such words: enough for clients to meet them, while all others stay one-byte
 * strings.
 */
const INTERNATIONAL_ANSWERS = 1 / 4;
const INTERNATIONAL_RATE = 1 / 8;

type WordTokens = {
  readonly first: readonly string[];
  readonly start: readonly string[];
  readonly inner: readonly string[];
};

const WORD_TOKENS = WORDS.map(splitWord);
const INTERNATIONAL_TOKENS = INTERNATIONAL_WORDS.map(splitWord);

/** Seeded sentences of exactly `count` tokens. With `isInternational` every other word is not ASCII. */
export function prose(random: Random, count: number, isInternational = false): string[] {
  const tokens: string[] = [];
  const usualRate = random.next() < INTERNATIONAL_ANSWERS ? INTERNATIONAL_RATE : 0;
  const rate = isInternational ? 1 / 2 : usualRate;
  let left = 0;
  while (tokens.length < count) {
    const isStart = left === 0;
    if (isStart) left = random.whole(6, 12);
    const word = random.pick(rate > 0 && random.next() < rate ? INTERNATIONAL_TOKENS : WORD_TOKENS);
    tokens.push(...(tokens.length === 0 ? word.first : isStart ? word.start : word.inner));
    if (--left === 0) tokens.push('.');
  }
  tokens.length = count;
  if (count > 1) tokens[count - 1] = '.';
  return tokens;
}

function splitWord(word: string): WordTokens {
  const capital = word.charAt(0).toUpperCase() + word.slice(1);
  return { first: tokenize(capital), start: tokenize(` ${capital}`), inner: tokenize(` ${word}`) };
}

/** A few seeded words without punctuation, as a value for a text field. */
export function phrase(random: Random, words: number): string {
  return Array.from({ length: words }, () => random.pick(WORDS)).join(' ');
}
