import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { findTextModel } from './model-lookup.js';

const DEPRECATION = { date: '2026-03-01', removesAt: '2026-04-01' };

function catalogOf(...models: object[]): Catalog {
  const common = { name: 'M', contextTokens: 100, maxCompletionTokens: 10, pricing: { input: 1, output: 1 } };
  const file = {
    models: models.map((model) => ({ ...common, ...model })),
    tiers: { L: { standard: LIMITS } },
  };
  return new Catalog(CatalogFile.parse(file));
}
const LIMITS = { requestsPerMinute: 1, tokensPerMinute: 1 };

const at = (day: string): number => Date.parse(day);

function refusal(ask: () => unknown): Problem {
  try {
    ask();
  } catch (error) {
    return error as Problem;
  }
  throw new Error('nothing was refused');
}

describe('the name of a model', () => {
  const catalog = catalogOf({ id: 'llama-3.2-3b', aliases: ['gpt-4o'], traits: ['default'] }, { id: 'a:b' });

  it.each(['llama-3.2-3b', 'Llama_3.2 3B', 'svc-llama-3.2-3b', 'gpt-4o', 'default', 'llama-3.2-3b:x=y'])(
    'finds its model if it is %s',
    (name) => {
      expect(findTextModel(name, catalog).model.id).toBe('llama-3.2-3b');
    },
  );

  it('may contain colons before its suffix', () => {
    const { model, suffix } = findTextModel('a:b:disable_thinking=true', catalog);
    expect(model.id).toBe('a:b');
    expect(suffix).toEqual({ disable_thinking: true });
  });

  it('is rejected with a suggestion if unknown', () => {
    const problem = refusal(() => findTextModel('lama-3.2-3b', catalog));
    expect(problem.code).toBe('MODEL_NOT_FOUND');
    expect(problem.message).toBe('Specified model not found: lama-3.2-3b. Did you mean llama-3.2-3b?');
  });

  it('is rejected with a short message if it is extremely long', () => {
    const problem = refusal(() => findTextModel('x'.repeat(1_000_000), catalog));
    expect(problem.message.length).toBeLessThan(300);
  });
});

describe('a deprecated model', () => {
  const old = {
    id: 'old',
    deprecation: { ...DEPRECATION, startsAt: '2026-02-01', replacementModelId: 'new' },
  };
  const catalog = catalogOf(old, { id: 'new' });

  it('is served without a warning before the notice begins', () => {
    expect(findTextModel('old', catalog, at('2026-01-31')).deprecation).toBeUndefined();
  });

  it('is served with a warning from then on', () => {
    const { model, deprecation } = findTextModel('old', catalog, at('2026-02-01'));
    expect(model.id).toBe('old');
    expect(deprecation).toEqual({
      warning: 'The model old is deprecated and will be removed on 2026-04-01; use new instead.',
      date: '2026-03-01',
      replacement: 'new',
    });
  });

  it('is rejected after its removal, naming its replacement', () => {
    const problem = refusal(() => findTextModel('old', catalog, at('2026-04-01')));
    expect(problem).toMatchObject({ status: 410, code: 'MODEL_RETIRED' });
    expect(problem.message).toBe('The model old is no longer offered since 2026-04-01. Use new instead.');
  });
});

describe('a removed model that is remapped', () => {
  const remap = (replacementModelId: string) => ({
    deprecation: { ...DEPRECATION, autoRemap: true, replacementModelId },
  });

  it('is served by its replacement, with a warning', () => {
    const catalog = catalogOf({ id: 'old', ...remap('new') }, { id: 'new' });
    const { model, deprecation } = findTextModel('old', catalog, at('2026-05-01'));
    expect(model.id).toBe('new');
    expect(deprecation?.warning).toBe('The model old was removed on 2026-04-01; new answers in its place.');
  });

  it('is served by the replacement of its replacement', () => {
    const catalog = catalogOf({ id: 'a', ...remap('b') }, { id: 'b', ...remap('c') }, { id: 'c' });
    expect(findTextModel('a', catalog, at('2026-05-01')).model.id).toBe('c');
  });

  it('is rejected if replacements form a cycle', () => {
    const catalog = catalogOf({ id: 'a', ...remap('b') }, { id: 'b', ...remap('a') });
    expect(refusal(() => findTextModel('a', catalog, at('2026-05-01'))).code).toBe('MODEL_RETIRED');
  });
});

describe('a trait of a removed model', () => {
  it('is transferred to the next model that has it', () => {
    const catalog = catalogOf(
      { id: 'old', traits: ['default'], deprecation: DEPRECATION },
      { id: 'new', traits: ['default'] },
    );
    expect(findTextModel('default', catalog, at('2026-05-01')).model.id).toBe('new');
    expect(findTextModel('default', catalog, at('2026-03-15')).model.id).toBe('old');
  });
});

describe('the catalogue', () => {
  it('rejects a replacement that it does not contain', () => {
    const bad = { id: 'old', deprecation: { ...DEPRECATION, replacementModelId: 'nothing' } };
    expect(() => catalogOf(bad)).toThrow('must be the id of another text model; nothing is not');
  });
});
