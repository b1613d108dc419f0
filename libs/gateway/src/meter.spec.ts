import { describe, expect, it } from 'vitest';
import { Meter, usageOf } from './meter.js';

function metered(...messages: Record<string, unknown>[]): Meter {
  const meter = new Meter();
  for (const message of messages) meter.addMessage(message);
  return meter;
}

describe('Meter', () => {
  it('counts a piece as a token, and a long one by its size', () => {
    expect(metered({ content: 'a' }, { content: '' }, { content: null }, { content: 'b' }).tokens).toBe(2);
    expect(metered({ content: 'x'.repeat(60) }).tokens).toBe(10);
  });

  it('counts all that is output: thoughts, refusals, parts of text, names and arguments of tools', () => {
    const calls = [{ index: 0, function: { name: 'f', arguments: '{}' } }, { custom: { input: 'x' } }, null];
    expect(metered({ reasoning_content: 'a', refusal: 'b' }).tokens).toBe(2);
    expect(
      metered({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }).tokens,
    ).toBe(2);
    expect(metered({ role: 'assistant', tool_calls: calls }).tokens).toBe(2);
  });
});

describe('usageOf', () => {
  const count = () => ({ promptTokens: 7, completionTokens: 5 });
  const none = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

  it('believes a backend that counts', () => {
    const reported = { promptTokens: 9, completionTokens: 4, ...none, cachedTokens: 3 };
    expect(usageOf(reported, count)).toEqual(reported);
  });

  it('counts itself where the backend does not', () => {
    expect(usageOf(undefined, count)).toEqual({ ...count(), ...none });
    expect(usageOf({ promptTokens: 9, completionTokens: 0, ...none }, count)).toEqual({
      promptTokens: 9,
      completionTokens: 5,
      ...none,
    });
  });
});
