import { isLong } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { type CorpusPage, corpus } from '../../test/corpus.js';
import { ours, plainReadability } from '../../test/extractors.js';
import { meanShares, sharesOf } from '../../test/shares.js';

/** Regression limits for the mean of the corpus. */
const FOUND_AT_LEAST = 0.99;
const NOISE_AT_MOST = 0.02;

/** Building a DOM is slow, so only a part of the pages is compared by default. */
const SHARE = isLong ? 1 : 3;

const shares = (pages: readonly CorpusPage[], extract: (html: string) => string) =>
  meanShares(pages.map(({ html, writer }) => sharesOf(writer, extract(html))));

describe('the corpus of page structures', () => {
  it('yields the main content without boilerplate', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    const { found, noise } = shares(corpus, ours);
    expect(found).toBeGreaterThanOrEqual(FOUND_AT_LEAST);
    expect(noise).toBeLessThanOrEqual(NOISE_AT_MOST);
  });

  it('yields more content and less boilerplate than plain Readability', () => {
    const pages = corpus.filter((_, index) => index % SHARE === 0);
    const [our, plain] = [shares(pages, ours), shares(pages, plainReadability)];
    expect(our.found).toBeGreaterThanOrEqual(plain.found);
    expect(our.noise).toBeLessThanOrEqual(plain.noise);
  });
});
