import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CatalogModel } from './catalog.js';

const modelWith = (reasoning: string): unknown =>
  parse(`
id: thinker
name: Thinker
type: text
contextTokens: 4096
maxCompletionTokens: 512
pricing: { input: 1, output: 2 }
reasoning: { ${reasoning}: { suffix: /no_think } }
`);

describe('the catalogue', () => {
  it('accepts backend names only if they are unique, including default names', () => {
    const model = modelWith('off') as object;
    const backends = (...names: (string | undefined)[]): object[] =>
      names.map((name) => ({
        ...(name !== undefined && { name }),
        url: 'http://127.0.0.1:1/v1',
        model: 'm',
      }));
    const isTaken = (...names: (string | undefined)[]): boolean =>
      CatalogModel.safeParse({ ...model, backends: backends(...names) }).success;
    expect(isTaken(undefined, 'vllm-a', 'vllm-b')).toBe(true);
    expect(isTaken('same', 'same')).toBe(false);
    expect(isTaken('backend-2', undefined)).toBe(false);
    expect(isTaken('10.0.0.1:8000')).toBe(false);
  });

  it.each(['off', '"off"', 'false'])(
    'accepts the key %s alike, whichever YAML version its writer uses',
    (key) => {
      expect(CatalogModel.parse(modelWith(key))).toMatchObject({
        reasoning: { off: { suffix: '/no_think' } },
      });
    },
  );
});
