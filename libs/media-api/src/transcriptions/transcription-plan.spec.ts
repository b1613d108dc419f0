import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import { TranscriptionRequest } from '@svc/api/audio';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audioLine, chargedMs, doubtOf, planTranscription, refuseLong } from './transcription-plan.js';

const TIERS = { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };

const entry = (more: object = {}): object => ({
  id: 'ear',
  name: 'Ear',
  type: 'asr',
  pricing: { perAudioSecond: 0.0001 },
  ...more,
});

function catalogOf(more: object = {}): Catalog {
  const audio = { standard: { requestsPerMinute: 60 }, partner: { requestsPerMinute: 120 } };
  return new Catalog(CatalogFile.parse({ models: [entry(more)], tiers: TIERS, otherLimits: { audio } }));
}

const CALLER = { accountId: 'a', keyId: 'k', tier: 'standard', paid: true, modelPrivacy: 'ALL' } as Caller;
const FILE = { bytes: Buffer.from('x') };

const planOf = (more: object = {}) =>
  planTranscription(TranscriptionRequest.parse({ file: FILE, model: 'ear', ...more }), CALLER, catalogOf());

const modelOf = (perAudioSecond: number) => {
  const [model] = [catalogOf({ pricing: { perAudioSecond } }).ofType('asr').find('ear')];
  if (!model) throw new Error('no model');
  return model;
};

describe('the price of a transcription', () => {
  it('is exact, by milliseconds', () => {
    expect(audioLine(modelOf(0.00003148), 12_345)).toEqual({
      sku: 'ear-asr-second',
      unit: 'millisecond',
      units: 12_345,
      priceNanoPerMillion: 31_480_000n,
      amountNano: 388_621n,
    });
  });

  it.each([
    ['nothing', undefined, 10_000],
    ['the same', 10_000, 10_000],
    ['a little less', 9_980, 9_980],
    ['half', 5_000, 5_000],
    ['less than half', 4_999, 10_000],
    ['zero', 0, 10_000],
    ['whole seconds', 11_000, 10_000],
    ['far more', 1_000_000, 10_000],
  ])('is that of 10 s if the backend reports %s', (_, reported, charged) => {
    expect(chargedMs(10_000, reported)).toBe(charged);
  });

  it('never falls with the length, and is the hold if the backend reports no length', () => {
    const usd = fc.integer({ min: 0, max: 1_000_000 }).map((micro) => micro / 1e6);
    const length = fc.integer({ min: 1, max: 14_400_000 });
    fc.assert(
      fc.property(usd, length, fc.nat(1_000_000), (perSecond, measured, more) => {
        const costOf = (milliseconds: number): bigint =>
          audioLine(modelOf(perSecond), milliseconds).amountNano;
        expect(costOf(measured)).toBeGreaterThanOrEqual(0n);
        expect(costOf(measured + more)).toBeGreaterThanOrEqual(costOf(measured));
        expect(costOf(chargedMs(measured, undefined))).toBe(costOf(measured));
      }),
    );
  });

  it('is never above the hold, and never below half of it', () => {
    const length = fc.integer({ min: 1, max: 100_000_000 });
    fc.assert(
      fc.property(length, fc.option(length, { nil: undefined }), (measured, reported) => {
        const charged = chargedMs(measured, reported);
        expect(charged).toBeLessThanOrEqual(measured);
        expect(charged).toBeGreaterThanOrEqual(measured / 2);
      }),
    );
  });
});

describe('a transcript of 10 s', () => {
  const reported = (reportedMs: number | undefined, more: object = {}) =>
    doubtOf({ text: 'Hello.', segments: [], words: [], ...more }, { measuredMs: 10_000, reportedMs });
  const endingAt = (end: number) => ({ start: 0, end, text: 'Hello.', word: 'Hello.' });

  it.each([undefined, 5_000, 10_000, 12_500])('can be of a file of which %s ms are reported', (ms) => {
    expect(reported(ms)).toBeUndefined();
  });

  it('may end with the window that a model works in, and may be a long one', () => {
    expect(reported(undefined, { segments: [endingAt(30)], words: [endingAt(30)] })).toBeUndefined();
    expect(reported(undefined, { text: 'x'.repeat(5_000) })).toBeUndefined();
  });

  it('is of more audio if its length, its times or its text say so', () => {
    expect(reported(12_501)).toBe('longer');
    expect(reported(10_000, { segments: [endingAt(50)] })).toBe('longer');
    expect(reported(undefined, { words: [endingAt(3_600)] })).toBe('longer');
    expect(reported(10_000, { text: 'x'.repeat(5_001) })).toBe('text');
  });

  it('may be of a part of the audio', () => {
    expect(reported(4_999)).toBe('shorter');
  });
});

describe('the plan for a file', () => {
  it('has the options for the backend, and unknown texts', () => {
    const options = { language: 'de', prompt: 'Ada', temperature: 0.2, hotwords: 'Ada', list: ['a', 'b'] };
    expect(planOf(options).audio).toEqual({
      language: 'de',
      prompt: 'Ada',
      temperature: 0.2,
      timestamps: ['segment'],
      others: { hotwords: 'Ada', list: ['a', 'b'] },
    });
  });

  it('requests the times of words only for formats that have them', () => {
    const times = (more: object) => planOf(more).audio.timestamps;
    const words = { timestamp_granularities: ['word'] };
    expect(times({ response_format: 'verbose_json', ...words })).toEqual(['word', 'segment']);
    expect(times({ timestamps: true })).toEqual(['word', 'segment']);
    expect(times({ response_format: 'srt', timestamps: true, ...words })).toEqual(['segment']);
  });

  it('passes on nothing that is accepted but not used', () => {
    expect(planOf({ chunking_strategy: 'auto', include: ['logprobs'], stream: false }).audio.others).toEqual(
      {},
    );
  });

  it('refuses other spellings of known names', () => {
    expect(() => planOf({ Language: 'de' })).toThrow(expect.objectContaining({ param: 'Language' }));
  });

  it('has the limits for audio of the catalogue', () => {
    expect(planOf().sale.limits).toEqual([{ scope: 'user', unit: 'requests', windowMs: 60_000, max: 60 }]);
  });

  it('refuses audio that is longer than the model takes', () => {
    const model = { ...modelOf(1), maxSeconds: 10 };
    expect(() => refuseLong(model, 10_000)).not.toThrow();
    expect(() => refuseLong(model, 10_001)).toThrow(expect.objectContaining({ param: 'file' }));
  });
});

describe('a transcription model of the catalogue', () => {
  it.each([
    [{ pricing: undefined }, 'pricing'],
    [{ pricing: {} }, 'perAudioSecond'],
    [{ pricing: { perAudioSecond: -1 } }, 'perAudioSecond'],
    [{ maxSeconds: 0 }, 'maxSeconds'],
  ])('is refused at load with %j', (members, field) => {
    const read = CatalogFile.safeParse({ models: [entry(members)], tiers: TIERS });
    expect(read.success).toBe(false);
    expect(JSON.stringify(read.error?.issues)).toContain(field);
  });
});
