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
  it.each(['off', '"off"', 'false'])('takes the key %s alike, whichever YAML its writer knows', (key) => {
    expect(CatalogModel.parse(modelWith(key))).toMatchObject({ reasoning: { off: { suffix: '/no_think' } } });
  });
});
