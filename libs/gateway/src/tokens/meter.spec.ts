import { describe, expect, it } from 'vitest';
import { Meter } from './meter.js';
import { Tokenizer } from './tokenizer.js';

function metered(...messages: Record<string, unknown>[]): Meter {
  const meter = new Meter();
  for (const message of messages) meter.addMessage(message);
  return meter;
}

/** A tokenizer that counts characters and records each text. */
const counting = () => {
  const seen: string[] = [];
  return {
    seen,
    tokenizer: new Tokenizer((text) => {
      seen.push(text);
      return text.length;
    }),
  };
};

describe('Meter', () => {
  it('counts a piece as one token, or a long one by its size', () => {
    expect(metered({ content: 'a' }, { content: '' }, { content: null }, { content: 'b' }).tokens).toBe(2);
    expect(metered({ content: 'x'.repeat(60) })).toMatchObject({ tokens: 10, pieces: 1 });
  });

  it('counts all output: reasoning, refusals, text parts, names and arguments of tool calls', () => {
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

  it('counts only what was delivered', async () => {
    const meter = metered({ content: 'a' }, { content: 'b' });
    meter.deliver();
    meter.addMessage({ content: 'c' });
    expect(meter).toMatchObject({ tokens: 3, deliveredTokens: 1 });
    expect(await meter.countDelivered()).toBe(1);
  });

  it('counts a text by its size, however many pieces it came in', async () => {
    const text = 'The same text, whole, in words and letter by letter.';
    for (const pieces of [[text], text.split(/(?<= )/), [...text]]) {
      const meter = metered(...pieces.map((content) => ({ content })));
      meter.deliver();
      expect(await meter.countDelivered()).toBe(Math.ceil(text.length / 3.2));
    }
  });

  it('counts whole texts with the tokenizer, whatever pieces they came in', async () => {
    const { seen, tokenizer } = counting();
    const meter = new Meter(tokenizer);
    meter.addMessage({ content: 'he', reasoning_content: 'think' });
    meter.addMessage({ content: 'other' }, 1);
    meter.addMessage({
      content: 'llo',
      tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a"' } }],
    });
    meter.addMessage({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] });
    meter.deliver();
    meter.addMessage({ content: ' lost' });
    expect(await meter.countDelivered()).toBe('hellothinkotherf{"a":1}'.length);
    expect(seen.toSorted()).toEqual(['f', 'hello', 'other', 'think', '{"a":1}']);
  });

  it('separates two calls of a whole message, even without an index', async () => {
    const { seen, tokenizer } = counting();
    const meter = new Meter(tokenizer);
    const call = { function: { name: 'f', arguments: '{}' } };
    meter.addMessage({ tool_calls: [call, call] });
    meter.deliver();
    await meter.countDelivered();
    expect(seen).toEqual(['f', '{}', 'f', '{}']);
  });

  it('keeps a bounded amount of text, and estimates beyond it', async () => {
    const { seen, tokenizer } = counting();
    const meter = new Meter(tokenizer);
    for (let piece = 0; piece < 200; piece += 1) {
      meter.addMessage({ content: 'x'.repeat(1_000) });
      meter.deliver();
    }
    expect(await meter.countDelivered()).toBe(200_000 / 3.2);
    expect(seen).toEqual([]);
  });
});
