import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import type { SpeechRequest } from '@svc/api/audio';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSpeech } from './speech-plan.js';

function catalogOf(usd: number): Catalog {
  const model = {
    id: 'voice',
    name: 'Voice',
    type: 'tts',
    voices: ['anna'],
    defaultVoice: 'anna',
    formats: ['mp3'],
    defaultFormat: 'mp3',
    pricing: { input: usd },
  };
  const limits = { standard: { requestsPerMinute: 60 }, partner: { requestsPerMinute: 120 } };
  return new Catalog(
    CatalogFile.parse({
      models: [model],
      tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
      otherLimits: { audio: limits },
    }),
  );
}

const CALLER = { accountId: 'a', keyId: 'k', tier: 'standard', paid: true, modelPrivacy: 'ALL' } as Caller;

const priceOf = (usd: number, input: string): bigint =>
  planSpeech({ model: 'voice', input }, CALLER, catalogOf(usd)).line.amountNano;

describe('the price of speech', () => {
  it('is exact, by code points', () => {
    expect(priceOf(3.5, 'Hello 🙂')).toBe(24_500n);
    expect(planSpeech({ model: 'voice', input: 'Hello 🙂' }, CALLER, catalogOf(3.5)).line).toEqual({
      sku: 'voice-tts-input-mchar',
      unit: 'character',
      units: 7,
      priceNanoPerMillion: 3_500_000_000n,
      amountNano: 24_500n,
    });
  });

  it('is never negative, grows with the text, and depends on nothing else', () => {
    const usd = fc.integer({ min: 0, max: 1_000_000 }).map((number) => number / 1_000);
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
    const others = fc.record({ speed: fc.constantFrom(0.25, 4), streaming: fc.boolean() });
    fc.assert(
      fc.property(usd, fc.tuple(text, text), others, (price, [input, more], options) => {
        const amountNano = priceOf(price, input);
        expect(amountNano).toBeGreaterThanOrEqual(0n);
        expect(priceOf(price, input + more)).toBeGreaterThanOrEqual(amountNano);
        const request: SpeechRequest = { model: 'voice', input, ...options };
        expect(planSpeech(request, CALLER, catalogOf(price)).line.amountNano).toBe(amountNano);
      }),
    );
  });
});

describe('the limits of speech', () => {
  it.each([
    ['standard', 60],
    ['partner', 120],
  ] as const)('of an account of the tier %s are %i requests per minute', (tier, max) => {
    const { sale } = planSpeech({ model: 'voice', input: 'a' }, { ...CALLER, tier }, catalogOf(1));
    expect(sale.limits).toEqual([{ scope: 'user', unit: 'requests', windowMs: 60_000, max }]);
  });
});

describe('a speech model of the catalogue', () => {
  it.each([
    [{ pricing: undefined }, 'pricing'],
    [{ pricing: {} }, 'input'],
    [{ defaultVoice: 'ben' }, 'defaultVoice'],
    [{ defaultFormat: 'wav' }, 'defaultFormat'],
    [{ voiceAliases: { alloy: 'ben' } }, 'alloy'],
    [{ formats: ['ogg'] }, 'formats'],
    [{ voiceCloning: { minSeconds: 40 } }, 'maxSeconds'],
    [{ voiceCloning: {}, backends: [{ kind: 'kokoro', url: 'http://a/v1', model: 'k' }] }, 'voiceCloning'],
  ])('is refused at load with %j', (members, field) => {
    const [model] = catalogOf(1).entries();
    const { inputNano: _, ...entry } = model as unknown as Record<string, unknown>;
    const file = {
      models: [{ ...entry, ...members }],
      tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
    };
    const read = CatalogFile.safeParse(file);
    expect(read.success).toBe(false);
    expect(JSON.stringify(read.error?.issues)).toContain(field);
  });
});
