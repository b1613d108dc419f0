import { describe, expect, it } from 'vitest';
import { usageOf } from './usage.js';
import { Meter } from '../tokens/meter.js';

const NO_DETAILS = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const countPrompt = () => Promise.resolve(7);

function delivered(...pieces: string[]): Meter {
  const meter = new Meter();
  for (const content of pieces) meter.addMessage({ content });
  meter.deliver();
  return meter;
}

describe('usageOf', () => {
  const meter = delivered('a', 'b', 'c');

  it('believes a backend that counts', async () => {
    const reported = {
      promptTokens: 9,
      completionTokens: 4,
      ...NO_DETAILS,
      cachedTokens: 3,
      reasoningTokens: 2,
    };
    expect(await usageOf({ reported, isWhole: true, meter }, countPrompt)).toEqual(reported);
  });

  it('counts itself where the backend does not', async () => {
    const counted = { promptTokens: 7, completionTokens: 3, ...NO_DETAILS };
    expect(await usageOf({ reported: undefined, isWhole: true, meter }, countPrompt)).toEqual(counted);
    const zero = { promptTokens: 0, completionTokens: 0, ...NO_DETAILS };
    expect(await usageOf({ reported: zero, isWhole: true, meter }, countPrompt)).toEqual(counted);
  });

  it('counts what was delivered of an answer that was cut, and believes what is said of the prompt', async () => {
    const reported = {
      promptTokens: 9,
      completionTokens: 50,
      ...NO_DETAILS,
      cachedTokens: 4,
      reasoningTokens: 40,
    };
    expect(await usageOf({ reported, isWhole: false, meter }, countPrompt)).toEqual({
      promptTokens: 9,
      completionTokens: 3,
      cachedTokens: 4,
      cacheWriteTokens: 0,
      reasoningTokens: 3,
    });
  });

  it('says that nothing came where nothing did', async () => {
    const usage = await usageOf({ reported: undefined, isWhole: true, meter: delivered() }, countPrompt);
    expect(usage.completionTokens).toBe(0);
  });
});
