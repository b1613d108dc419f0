import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { ModelSale, sellModel, sellTextModel } from './model-sale.js';

const text = (id: string, more: object): object => ({
  id,
  name: id,
  tier: 'XS',
  contextTokens: 1_000,
  maxCompletionTokens: 100,
  pricing: { input: 1, output: 1 },
  ...more,
});
const models = [
  text('open', { traits: ['fast'] }),
  text('other', {}),
  text('old', {
    deprecation: {
      date: '2020-01-01',
      removesAt: '2020-01-02',
      autoRemap: true,
      replacementModelId: 'open',
    },
  }),
  text('paid', { paidOnly: true }),
  text('anonymous', { privacy: 'anonymized' }),
];
const tiers = { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };
const catalog = new Catalog(CatalogFile.parse({ models, tiers }));
const CALLER = { accountId: 'a', tier: 'standard', paid: false, modelPrivacy: 'ALL' } as Caller;

const sold = (name: string, caller: Partial<Caller> = {}): ModelSale =>
  sellModel(name, catalog.ofType('text'), { caller: { ...CALLER, ...caller }, catalog });
const refusal = (code: string): unknown => expect.objectContaining({ code, param: 'model' });

describe('the sale of a model', () => {
  it('names the model in charges, limits and headers', () => {
    expect(sold('open')).toMatchObject({
      name: 'open',
      resource: { kind: 'model', name: 'open' },
      limits: [{ unit: 'requests', max: 1 }, { unit: 'tokens' }],
      headers: { 'x-svc-model-id': 'open' },
    });
  });

  it('of a paid-only model needs an account that has paid', () => {
    expect(() => sold('paid')).toThrow(refusal('PRO_ONLY_MODEL'));
    expect(sold('paid', { paid: true }).name).toBe('paid');
  });

  it.each(['PRIVATE_TEXT', 'PRIVATE_ONLY'] as const)(
    'of a model that is not private is refused to a key that is set to %s',
    (modelPrivacy) => {
      expect(() => sold('anonymous', { modelPrivacy })).toThrow(refusal('UNAUTHORIZED'));
    },
  );

  it.each([
    { allows: ['open'], name: 'open', may: true },
    { allows: ['OPEN'], name: 'fast', may: true },
    { allows: ['fast'], name: 'open', may: true },
    { allows: ['o*n'], name: 'open', may: true },
    { allows: ['old'], name: 'open', may: false },
    { allows: ['old'], name: 'old', may: false },
    { allows: ['other'], name: 'fast', may: false },
    { allows: ['other'], name: 'open:strip_thinking_response=true', may: false },
    { allows: ['other', 'ope*'], name: 'old', may: true },
  ])('named $name to a key for $allows: $may', ({ allows, name, may }) => {
    const sell = (): string =>
      sellTextModel(name, { caller: { ...CALLER, restrictions: { models: allows } }, catalog }).sale.name;
    const outcome = (): unknown => {
      try {
        return sell();
      } catch (error) {
        return error;
      }
    };
    expect(outcome()).toEqual(may ? 'open' : refusal('MODEL_NOT_ALLOWED'));
  });

  it('by a name with parameters refuses the same, and returns the parameters', () => {
    const buyer = { caller: CALLER, catalog };
    expect(() => sellTextModel('paid:strip_thinking_response=true', buyer)).toThrow(
      refusal('PRO_ONLY_MODEL'),
    );
    const { sale, suffix } = sellTextModel('open:strip_thinking_response=true', buyer);
    expect([sale.name, suffix]).toEqual(['open', { strip_thinking_response: true }]);
  });

  it('cannot be written by hand', () => {
    type Written = Pick<ModelSale, 'name' | 'resource' | 'limits' | 'headers' | 'model'>;
    const isEnough: Written extends ModelSale ? true : false = false;
    expect(isEnough).toBe(false);
  });
});
