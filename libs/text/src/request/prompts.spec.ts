import { Catalog, Characters, type Model } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import { CharactersFile } from '@svc/api/characters';
import { describe, expect, it } from 'vitest';
import { Prompts } from './prompts.js';
import { effectiveParameters } from '@svc/paid/models';

const common = { name: 'M', contextTokens: 100, maxCompletionTokens: 10, pricing: { input: 1, output: 1 } };
const catalog = new Catalog(
  CatalogFile.parse({
    models: [
      { ...common, id: 'plain' },
      { ...common, id: 'own', housePrompts: ['Own.'] },
      { ...common, id: 'bare', housePrompts: [] },
    ],
    tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
    housePrompts: ['House one.', 'House two.'],
  }),
);
const characters = new Characters(
  CharactersFile.parse({ characters: [{ slug: 'ann', name: 'Ann', systemPrompt: 'You are Ann.' }] }),
);
const prompts = new Prompts(catalog, characters);

function promptsFor(model: string, parameters: object = {}): readonly string[] {
  return prompts.for(effectiveParameters(parameters, {}), catalog.text.find(model) as Model);
}

describe('the system prompts of the service', () => {
  it.each([
    ['plain', ['House one.', 'House two.']],
    ['own', ['Own.']],
    ['bare', []],
  ])('come from the model %s, or else from the catalogue: %j', (model, expected) => {
    expect(promptsFor(model)).toEqual(expected);
  });

  it('end with the prompt of the character', () => {
    expect(promptsFor('own', { character_slug: 'ann' })).toEqual(['Own.', 'You are Ann.']);
  });

  it("consist of only the character's prompt when house prompts are switched off", () => {
    const off = { include_venice_system_prompt: false };
    expect(promptsFor('plain', off)).toEqual([]);
    expect(promptsFor('plain', { ...off, character_slug: 'ann' })).toEqual(['You are Ann.']);
  });

  it('cannot be built for an unknown character', () => {
    expect(() => promptsFor('plain', { character_slug: 'eve' })).toThrow(
      'No character could be found from the provided character_slug',
    );
  });
});
