import type { PageWriter } from './writer.js';

/** The quality of an extractor's result. */
export interface Shares {
  /** The extracted share of the main content's letters; `undefined` if there are none. */
  readonly found: number | undefined;
  /** The extracted share of the boilerplate's letters. */
  readonly noise: number | undefined;
}

/** Only letters and digits, without the link targets of Markdown. */
function lettersOf(text: string): string {
  return text
    .replaceAll(/\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)/g, ']')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '');
}

function shareOf(texts: readonly string[], within: string): number | undefined {
  let [all, there] = [0, 0];
  for (const text of texts) {
    const letters = lettersOf(text);
    all += letters.length;
    if (within.includes(letters)) there += letters.length;
  }
  return all === 0 ? undefined : there / all;
}

export function sharesOf({ main, noise }: PageWriter, extracted: string): Shares {
  const within = lettersOf(extracted);
  return { found: shareOf(main, within), noise: shareOf(noise, within) };
}

/** The mean over the pages that have such letters. */
export function meanShares(all: readonly Shares[]): { found: number; noise: number } {
  const mean = (values: readonly (number | undefined)[]): number => {
    const known = values.filter((value) => value !== undefined);
    return known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return { found: mean(all.map(({ found }) => found)), noise: mean(all.map(({ noise }) => noise)) };
}
