import { describe, expect, it } from 'vitest';
import { type EndedCompletion, estimatedUsage, usageOf, usageView } from './usage.js';
import { Meter } from '../tokens/meter.js';

const NO_DETAILS = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const prompt = { tokens: 6, tokensAtMost: 1_000, tokensAtLeast: () => 0, count: () => Promise.resolve(7) };
const rest = {
  prompt,
  received: 10_000,
  outputTokensAtMost: 100,
  paidTokensAtMost: Infinity,
  mayThink: false,
  isEncrypted: false,
};
const usage = async (
  ended: Pick<EndedCompletion, 'reported' | 'isWhole' | 'meter'> & Partial<EndedCompletion>,
) => (await usageOf({ ...rest, ...ended })).usage;

function delivered(...pieces: string[]): Meter {
  const meter = new Meter();
  for (const content of pieces) meter.addMessage({ content });
  meter.deliver();
  return meter;
}

describe('usageOf', () => {
  const meter = delivered('aaa', 'bbb', 'ccc');

  it('trusts a backend that reports counts', async () => {
    const reported = {
      promptTokens: 9,
      completionTokens: 4,
      ...NO_DETAILS,
      cachedTokens: 3,
      reasoningTokens: 2,
    };
    expect(await usage({ reported, isWhole: true, meter })).toEqual(reported);
  });

  it('counts by itself if the backend does not', async () => {
    const counted = { promptTokens: 7, completionTokens: 3, ...NO_DETAILS };
    expect(await usage({ reported: undefined, isWhole: true, meter })).toEqual(counted);
    const zero = { promptTokens: 0, completionTokens: 0, ...NO_DETAILS };
    expect(await usage({ reported: zero, isWhole: true, meter })).toEqual(counted);
  });

  it("counts what was delivered of a cut response, but trusts the backend's prompt count", async () => {
    const reported = {
      promptTokens: 9,
      completionTokens: 50,
      ...NO_DETAILS,
      cachedTokens: 4,
      reasoningTokens: 40,
    };
    expect(await usage({ reported, isWhole: false, meter })).toEqual({
      promptTokens: 9,
      completionTokens: 3,
      cachedTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 3,
    });
  });

  it('reports no output if there was none', async () => {
    const none = await usage({ reported: undefined, isWhole: true, meter: delivered() });
    expect(none.completionTokens).toBe(0);
  });
});

describe('token counts', () => {
  const meter = delivered('aaa', 'bbb', 'ccc');
  const counts = (promptTokens: number, completionTokens: number, reasoningTokens = 0) => ({
    promptTokens,
    completionTokens,
    cachedTokens: 5,
    cacheWriteTokens: 0,
    reasoningTokens,
  });
  const given = (
    reported: ReturnType<typeof counts> & { confirmedReasoning?: number },
    more: Partial<EndedCompletion> = {},
  ) => usageOf({ ...rest, reported, isWhole: true, meter, ...more });

  it('of more output than requested are not charged', async () => {
    expect(await given(counts(9, 100))).toMatchObject({ usage: { completionTokens: 100 }, doubted: [] });
    for (const lie of [101, 10_000_000, Number.MAX_SAFE_INTEGER]) {
      expect(await given(counts(9, lie))).toMatchObject({
        usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 5 },
        doubted: ['output too high'],
      });
    }
  });

  it('of more output tokens than received bytes are not charged, unless a model hides its reasoning or the total confirms it', async () => {
    expect(await given(counts(9, 51), { received: 50 })).toMatchObject({
      usage: { completionTokens: 3 },
      doubted: ['output too high'],
    });
    const thought = counts(9, 90, 60);
    expect((await given(thought, { received: 50 })).usage.completionTokens).toBe(3);
    expect((await given(thought, { received: 50, mayThink: true })).usage.completionTokens).toBe(90);
    expect((await given(counts(9, 101, 60), { received: 50, mayThink: true })).usage.completionTokens).toBe(
      3,
    );
    const confirmed = { ...thought, confirmedReasoning: 60 };
    expect((await given(confirmed, { received: 50 })).usage.completionTokens).toBe(90);
    expect((await given({ ...confirmed, completionTokens: 101 }, { received: 50 })).doubted).toEqual([
      'output too high',
    ]);
  });

  it('of a larger prompt than was sent are not charged, and its cached tokens are ignored', async () => {
    expect(await given(counts(1_000, 4))).toMatchObject({ usage: { promptTokens: 1_000 }, doubted: [] });
    expect(await given(counts(1_001, 4))).toMatchObject({
      usage: { promptTokens: 7, cachedTokens: 0, completionTokens: 4 },
      doubted: ['prompt too high'],
    });
  });

  it('of less than was sent and delivered are raised to the lowest possible count', async () => {
    const words = delivered(...Array.from({ length: 200 }, () => ' word'));
    const long = { ...prompt, tokens: 300, tokensAtLeast: () => 120 };
    const low = { prompt: long, meter: words };
    expect(await given({ ...counts(1, 1), cachedTokens: 500, cacheWriteTokens: 500 }, low)).toEqual({
      usage: {
        promptTokens: 120,
        completionTokens: 100,
        cachedTokens: 120,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
      doubted: ['prompt too low', 'output too low'],
    });
    expect((await given(counts(1, 1), { ...low, outputTokensAtMost: 80 })).usage.completionTokens).toBe(80);
    expect((await given(counts(60, 40), low)).doubted).toEqual([]);
    expect((await given(counts(1, 1), { ...low, isEncrypted: true })).doubted).toEqual([]);
    expect((await given(counts(150, 100), low)).doubted).toEqual([]);
    // The output of a cut response is always counted here.
    expect((await given(counts(150, 1), { ...low, isWhole: false })).doubted).toEqual([]);
  });

  it('are replaced by an estimate when counting fails', () => {
    expect(estimatedUsage({ ...rest, reported: undefined, isWhole: true, meter })).toMatchObject({
      promptTokens: 6,
      completionTokens: 3,
    });
  });

  it('of our own never exceed what was requested', async () => {
    const long = delivered('x'.repeat(6_000));
    expect(
      (await usageOf({ ...rest, reported: undefined, isWhole: false, meter: long })).usage,
    ).toMatchObject({
      completionTokens: 100,
    });
  });
});

describe('usageView', () => {
  it('calculates the total itself', () => {
    const view = usageView({ promptTokens: 9, completionTokens: 4, ...NO_DETAILS, reasoningTokens: 1 });
    expect(view).toMatchObject({
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1 },
    });
  });
});
