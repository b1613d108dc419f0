import { Character, CharacterQuery } from '@svc/api/characters';
import { describe, expect, it } from 'vitest';
import { characterView, searchCharacters } from './character-search.js';

const character = (slug: string, more: object = {}): Character =>
  Character.parse({ slug, name: slug, systemPrompt: 'Be yourself.', ...more });

const rated = (ratingCount: number, average: number): object => ({
  stats: { ratingCount, ratingSum: ratingCount * average },
});

const modelIdOf = (name: string): string => (name === 'default' ? 'small' : name);

/** The slugs of the characters found by a query, in order. */
function found(characters: readonly Character[], query: object): string[] {
  return searchCharacters(characters, CharacterQuery.parse(query), modelIdOf).map(({ slug }) => slug);
}

describe('a character search', () => {
  const characters = [
    character('ann', { tags: ['Sea'], categories: ['tales'], description: 'Sails by the stars' }),
    character('bob', { tags: ['land', 'farm'], adult: true, modelId: 'large' }),
    character('cid', { categories: ['work'], pro: true, webEnabled: true, featured: true }),
  ];

  it.each([
    [{}, ['cid', 'ann', 'bob']],
    [{ search: 'STARS' }, ['ann']],
    [{ search: 'farm' }, ['bob']],
    [{ search: 'yourself' }, []],
    [{ tags: 'sea,farm' }, ['ann', 'bob']],
    [{ tags: ['sea', 'farm'] }, ['ann', 'bob']],
    [{ tags: '' }, ['cid', 'ann', 'bob']],
    [{ categories: 'work' }, ['cid']],
    [{ categories: 'work', tags: 'sea' }, []],
    [{ modelId: 'small' }, ['cid', 'ann']],
    [{ modelId: 'default' }, ['cid', 'ann']],
    [{ modelId: 'large' }, ['bob']],
    [{ isAdult: 'true' }, ['bob']],
    [{ isAdult: 'false' }, ['cid', 'ann']],
    [{ isPro: 'true' }, ['cid']],
    [{ isWebEnabled: 'false' }, ['ann', 'bob']],
    [{ limit: '1' }, ['cid']],
    [{ limit: '1', offset: '2' }, ['bob']],
    [{ offset: '3' }, []],
    [{ sortOrder: 'asc' }, ['ann', 'bob', 'cid']],
  ])('for %j finds %j', (query, slugs) => {
    expect(found(characters, query)).toEqual(slugs);
  });
});

describe('the order of characters', () => {
  const characters = [
    character('new', { createdAt: '2026-03-01' }),
    character('one-best', { createdAt: '2026-01-01', ...rated(1, 5) }),
    character('many-good', { createdAt: '2026-02-01', ...rated(100, 4) }),
    character('many-bad', {
      createdAt: '2026-01-15',
      stats: { imports: 9, ratingCount: 200, ratingSum: 200 },
    }),
  ];

  it.each([
    ['highestRating', ['one-best', 'many-good', 'many-bad', 'new']],
    ['highlyRated', ['many-good', 'one-best', 'new', 'many-bad']],
    ['highlyRatedAndRecent', ['many-good', 'one-best', 'new', 'many-bad']],
    ['mostRecent', ['new', 'many-good', 'many-bad', 'one-best']],
    ['ratingCount', ['many-bad', 'many-good', 'one-best', 'new']],
    ['imports', ['many-bad', 'new', 'one-best', 'many-good']],
  ])('for %s is %j', (sortBy, slugs) => {
    expect(found(characters, { sortBy })).toEqual(slugs);
  });
});

describe('the view of a character', () => {
  it('does not contain the prompt or the name of the author', () => {
    const view = characterView(character('ann', { author: 'Jane', ...rated(2, 4.5) }), modelIdOf);
    expect(JSON.stringify(view)).not.toMatch(/yourself|Jane/);
    expect(view).toMatchObject({
      author: expect.stringMatching(/^[0-9a-f]{5}$/),
      description: null,
      modelId: 'small',
      stats: { averageRating: 4.5, ratingCount: 2, ratingSum: 9, imports: 0, userRating: null },
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
  });
});
