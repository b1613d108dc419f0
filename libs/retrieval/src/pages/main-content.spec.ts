import { isLong } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { type CorpusPage, corpus } from '../../test/corpus.js';
import { ours, plainReadability } from '../../test/extractors.js';
import { meanShares, sharesOf } from '../../test/shares.js';

/** What is not to be lost again, in the mean of the corpus. */
const FOUND_AT_LEAST = 0.99;
const NOISE_AT_MOST = 0.02;

/** A browser's tree is much work, so that only some pages are read in both ways here. */
const SHARE = isLong ? 1 : 3;

const shares = (pages: readonly CorpusPage[], extract: (html: string) => string) =>
  meanShares(pages.map(({ html, writer }) => sharesOf(writer, extract(html))));

describe('of pages of all structures', () => {
  it('what they are about is found, and what stands around it is not', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    const { found, noise } = shares(corpus, ours);
    expect(found).toBeGreaterThanOrEqual(FOUND_AT_LEAST);
    expect(noise).toBeLessThanOrEqual(NOISE_AT_MOST);
  });

  it('more is found than by plain Readability, and less is let through', () => {
    const pages = corpus.filter((_, index) => index % SHARE === 0);
    const [our, plain] = [shares(pages, ours), shares(pages, plainReadability)];
    expect(our.found).toBeGreaterThanOrEqual(plain.found);
    expect(our.noise).toBeLessThanOrEqual(plain.noise);
  });
});
