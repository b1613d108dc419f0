import { describe, expect, it } from 'vitest';
import { readChoice, withoutThoughts } from './whole-choice.js';

const tokens = (...texts: string[]) =>
  texts.map((token) => ({ token, logprob: -0.5, bytes: null, top_logprobs: [] }));

describe('readChoice', () => {
  it('fills what a backend leaves out', () => {
    expect(readChoice({ message: { content: 'a' } }, 2)).toEqual({
      index: 2,
      finish_reason: 'stop',
      stop_reason: null,
      logprobs: null,
      message: { role: 'assistant', content: 'a', reasoning_content: null },
    });
  });

  it('leaves out what is the backend’s own', () => {
    const choice = readChoice({ index: 0, token_ids: [1], stop_reason: '</s>', message: {} }, 0);
    expect(Object.keys(choice)).toEqual(['index', 'finish_reason', 'stop_reason', 'logprobs', 'message']);
    expect(choice.stop_reason).toBeNull();
  });

  it('says reasoning by the name that clients know', () => {
    const { message } = readChoice({ message: { content: 'a', reasoning: 'hm' } }, 0);
    expect(JSON.parse(JSON.stringify(message))).toEqual({
      role: 'assistant',
      content: 'a',
      reasoning_content: 'hm',
    });
  });

  it('carries details, signatures and refusals through unchanged', () => {
    const given = {
      content: null,
      refusal: 'no',
      name: 'x',
      thought_signature: 'abc=',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0, more: { a: [1] } }],
    };
    expect(readChoice({ message: given }, 0).message).toMatchObject(given);
  });

  it('keeps content of text parts, and makes a string of any other parts', () => {
    const parts = [{ type: 'text', text: 'a' }];
    const mixed = [{ type: 'thinking', thinking: 'hm' }, ...parts, { type: 'reference', reference_ids: [1] }];
    expect(readChoice({ message: { content: parts } }, 0).message['content']).toEqual(parts);
    expect(readChoice({ message: { content: mixed } }, 0).message).toMatchObject({
      content: 'a',
      reasoning_content: 'hm',
    });
  });

  it.each([
    [{ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }, 'stop'],
    [{ function_call: { name: 'f', arguments: '{}' } }, 'function_call'],
  ])('finishes an answer that calls a function with tool_calls', (message, reason) => {
    const choice = readChoice({ message, finish_reason: reason }, 0);
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message['tool_calls']).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'f', arguments: '{}' } },
    ]);
    expect(choice.message['function_call']).toBeUndefined();
  });

  it.each([
    ['a wrapper without refusal', { content: tokens('a') }, { content: tokens('a'), refusal: null }],
    ['a list', tokens('a'), { content: tokens('a'), refusal: null }],
    ['one token', { token: 'a', logprob: -0.5 }, { content: tokens('a'), refusal: null }],
    ['a wrapper around nothing', { content: null }, { content: null, refusal: null }],
    ['what has another form', { tokens: ['a'] }, null],
  ])('gives logprobs of %s in the wrapper that clients read', (_, logprobs, expected) => {
    expect(readChoice({ message: {}, logprobs }, 0).logprobs).toEqual(expected);
  });
});

describe('withoutThoughts', () => {
  it('takes out blocks, reasoning_content and their tokens', () => {
    const choice = readChoice(
      {
        message: { content: '<think>x</think>\n\nHi you', reasoning_content: 'hm' },
        logprobs: { content: tokens('<', 'think', '>', 'x', '</think>', '\n\n', 'Hi', ' you') },
      },
      0,
    );
    const { message, logprobs } = withoutThoughts(choice, false);
    expect(message).toMatchObject({ content: 'Hi you', reasoning_content: null });
    expect(logprobs).toEqual({ content: tokens('Hi', ' you'), refusal: null });
  });

  it('leaves an answer without thoughts as it is', () => {
    const choice = readChoice({ message: { content: 'Hi <b>' }, logprobs: { content: tokens('Hi <b>') } }, 0);
    expect(withoutThoughts(choice, false)).toEqual(choice);
    const silent = readChoice({ message: { content: null } }, 0);
    expect(withoutThoughts(silent, true)).toEqual(silent);
  });

  it('reads content of parts as one text', () => {
    const content = ['<thi', 'nk>x</think>Hi'].map((text) => ({ type: 'text', text }));
    expect(withoutThoughts(readChoice({ message: { content } }, 0), false).message['content']).toBe('Hi');
  });
});
