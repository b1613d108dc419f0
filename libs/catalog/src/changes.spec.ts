import { CatalogFile } from '@svc/contracts/catalog';
import { CharactersFile } from '@svc/api/characters';
import { expect, it } from 'vitest';
import { pricedCatalog } from '../test/priced-catalog.js';
import { catalogChanges, charactersChanges } from './changes.js';

type Content = ReturnType<typeof pricedCatalog>;

function changesOf(change: (content: Content) => void): ReturnType<typeof catalogChanges> {
  const after = pricedCatalog();
  change(after);
  return catalogChanges(CatalogFile.parse(pricedCatalog()), CatalogFile.parse(after));
}

const model = ({ models }: Content, at: number) => models[at] as Record<string, unknown>;

it('says in words what changes of prices, models and limits', () => {
  const changes = changesOf((content) => {
    model(content, 0)['pricing'] = { input: 2, output: 2, cacheInput: 0.5, cacheWrite: 1.5 };
    model(content, 1)['contextTokens'] = 16_384;
    model(content, 1)['aliases'] = ['gpt-4o'];
    model(content, 0)['aliases'] = [];
    content.models.splice(10, 1);
    content.models.push({ ...(content.models[1] as object), id: 'new', name: 'New', aliases: [] });
    content.tiers = { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1_000 } } };
  });
  expect(changes.prices).toContain('big: input: 2 USD per million tokens instead of 1 (× 2)');
  expect(changes.prices).toContain(
    'gpt-4o (now small): input: 0.1 USD per million tokens instead of 1 (× 0.1)',
  );
  expect(changes.models).toEqual([
    'new is new, of type text: input, cached input, cache writes, cache writes for an hour, extended input, extended cached input, extended cache writes, extended cache writes for an hour 0.1; output, extended output 0.2 USD per million tokens',
    'songs is removed; requests for it will be refused',
    'gpt-4o now means small, not big',
  ]);
  expect(changes.limits).toEqual([
    'tier L standard requestsPerMinute is 1 instead of 10',
    'small: contextTokens is 16384 instead of 8192',
  ]);
  expect(changes.others).toEqual([]);
});

it('finds backends by their names, whatever their order', () => {
  const named = (name: string, url: string) => ({ name, url, model: 'm' });
  const changes = (backends: object[]) => {
    const content = pricedCatalog();
    model(content, 0)['backends'] = backends;
    return CatalogFile.parse(content);
  };
  const before = changes([named('a', 'http://a:1'), named('b', 'http://b:1')]);
  const after = changes([named('b', 'http://b:2'), named('a', 'http://a:1')]);
  expect(catalogChanges(before, after).others).toEqual([
    'big: backends b url is "http://b:2" instead of "http://b:1"',
  ]);
});

it('says which characters are new, removed or changed', () => {
  const file = (...characters: object[]) => CharactersFile.parse({ characters });
  const one = { slug: 'one', name: 'One', systemPrompt: 'Be one.' };
  const before = file(one, { ...one, slug: 'two' });
  const after = file({ ...one, name: 'First' }, { ...one, slug: 'three' });
  expect(charactersChanges(before, after).others).toEqual([
    'three is new',
    'two is removed',
    'one: name is "First" instead of "One"',
  ]);
});

it('says nothing of a file that only looks different', () => {
  const same = changesOf((content) => void Object.assign(model(content, 0), { tier: 'L', betaModel: false }));
  expect(same).toEqual({ prices: [], models: [], limits: [], others: [] });
});
