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
    expect(metered({ role: 'assistant', tool_calls: calls }).tokens).toBe(3);
    const begun = [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }];
    expect(metered({ tool_calls: begun, x: '' }).pieces).toBe(1);
  });

  it('counts a text once that a message contains under several names, and every other text', () => {
    const details = (...texts: string[]) => texts.map((text) => ({ type: 'reasoning.text', text }));
    const bytesOf = (message: Record<string, unknown>): number => metered(message).bytes;
    const reasoning_content = 'first, then';
    expect(bytesOf({ reasoning_content, reasoning_details: details('first, then') })).toBe(11);
    expect(bytesOf({ reasoning_details: details('first', ', then'), reasoning_content })).toBe(11);
    expect(bytesOf({ reasoning_details: details('first', ', next'), reasoning_content })).toBe(17);
    expect(bytesOf({ x: 'first', y: ['fir', 'st'], reasoning_content: 'other' })).toBe(10);
    // The same words in another order are another text.
    expect(bytesOf({ x: ['a', 'b', 'c'], y: ['c', 'b', 'c', 'b'] })).toBe(7);
    expect(bytesOf({ content: 'first', tool_calls: [{ function: { arguments: 'first' } }] })).toBe(10);
  });

  it('counts one token of a model for a message, whatever other texts come with it', () => {
    const annotations = ['https://a.example', 'https://b.example'].map((url) => ({
      type: 'url_citation',
      url,
    }));
    expect(metered({ content: 'a', annotations }, { annotations })).toMatchObject({ pieces: 2, bytes: 69 });
  });

  it('counts output that is sent as names, types or ids, beyond the size of usual ones', () => {
    const words = Array.from({ length: 2_000 }, (_, at) => `word${at}`);
    const size = Buffer.byteLength(words.join(''));
    for (const messages of [words.map((word) => ({ [word]: null })), words.map((id) => ({ x: [{ id }] }))]) {
      const { bytes } = metered(...messages);
      expect(bytes).toBeLessThanOrEqual(size);
      expect(bytes).toBeGreaterThan(size - 1_100);
    }
    expect(metered({ x: { type: 'a long text '.repeat(10) } }).bytes).toBe(120);
  });

  it('counts a token for each entry of log probabilities, and a long one by its size', async () => {
    const entry = (token: string): object => ({ token, logprob: 0 });
    const meter = new Meter();
    meter.addLogprobs({ content: [entry(' a'), entry('b')], refusal: null });
    meter.addMessage({ content: ' ab' });
    meter.deliver();
    expect([meter.tokens, meter.deliveredTokens, await meter.countDelivered()]).toEqual([2, 2, 2]);
    meter.addLogprobs({ content: null, refusal: [entry('x'.repeat(1_280))] });
    expect([meter.tokens, meter.deliveredTokens]).toEqual([12, 2]);
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
