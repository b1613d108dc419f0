import { describe, expect, it } from 'vitest';
import type { SvcParametersEcho } from '@svc/api/chat';
import { OpenAiOutput } from '../../test/openai-output.js';
import { WholeEncoder } from './whole-encoder.js';

interface Choice {
  index: number;
  finish_reason: string;
  stop_reason: string | null;
  logprobs: unknown;
  message: Record<string, unknown>;
}

const KEPT = { strip: false, startsInside: false };

/** The client's view of a backend's choices. */
const choicesOf = async (choices: object[], thinking = KEPT): Promise<Choice[]> =>
  (JSON.parse(await sentFor(JSON.stringify({ choices }), thinking)) as { choices: Choice[] }).choices;

/** What a client gets for the response of a backend. */
async function sentFor(response: string, thinking = KEPT): Promise<string> {
  const output = new OpenAiOutput({ thinking, tokenizer: undefined });
  let sent = '';
  const send = (body: string): Promise<void> => {
    sent = body;
    return Promise.resolve();
  };
  const about = { id: 'chatcmpl-1', model: 'm', promptTokens: 0, parameters: {} as SvcParametersEcho };
  const form = new WholeEncoder({ isGone: false, send }, output.normaliser, about);
  form.add(output.read(response));
  const usage = {
    promptTokens: 1,
    completionTokens: 1,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  const cost = { usdNano: 0n, diemNano: 0n };
  await form.end({ ending: { kind: 'done' }, usage, cost, hasOutput: true });
  return sent;
}

const choiceOf = async (choice: object): Promise<Choice> => (await choicesOf([choice]))[0] as Choice;
const withoutReasoning = async (choice: object, startsInside = false): Promise<Choice> =>
  (await choicesOf([choice], { strip: true, startsInside }))[0] as Choice;

const tokens = (...texts: string[]) =>
  texts.map((token) => ({ token, logprob: -0.5, bytes: null, top_logprobs: [] }));

describe('WholeEncoder', () => {
  it('fills in what a backend omits', async () => {
    const [choice] = (await choicesOf([{}, {}, { message: { content: 'a' } }])).slice(2);
    expect(choice).toEqual({
      index: 2,
      finish_reason: 'stop',
      stop_reason: null,
      logprobs: null,
      message: { role: 'assistant', content: 'a', reasoning_content: null, refusal: null },
    });
  });

  it('keeps the order of log probabilities of the prompt, which are named by token ids', async () => {
    const ranked = '[null,{"900":{"logprob":-0.1,"rank":1},"7":{"logprob":-2,"rank":2}}]';
    const response = `{"choices":[{"message":{"content":"a"}}],"prompt_logprobs":${ranked}}`;
    expect(await sentFor(response)).toContain(`"prompt_logprobs":${ranked}`);
  });

  it('returns the token ids that a backend returns, unless reasoning is stripped', async () => {
    const choices = [{ message: { content: 'a' }, token_ids: [5, 6] }];
    const response = JSON.stringify({ choices, prompt_token_ids: [1, 2, 3] });
    expect(JSON.parse(await sentFor(response))).toMatchObject({
      prompt_token_ids: [1, 2, 3],
      choices: [{ token_ids: [5, 6] }],
    });
    const stripped = await sentFor(response, { strip: true, startsInside: false });
    expect(stripped).not.toContain('"token_ids"');
    expect(await sentFor(JSON.stringify({ choices: [{ token_ids: ['free text'] }] }))).not.toContain('free');
  });

  it('adds a choice if the backend sent none', async () => {
    expect(await choicesOf([])).toMatchObject([{ index: 0, message: { role: 'assistant', content: null } }]);
  });

  it("drops the backend's own members", async () => {
    const choice = await choiceOf({ index: 0, routed_experts: [1], stop_reason: '</s>', message: {} });
    expect(Object.keys(choice)).toEqual(['index', 'finish_reason', 'stop_reason', 'logprobs', 'message']);
    expect(choice.stop_reason).toBeNull();
  });

  it('renames reasoning to reasoning_content', async () => {
    const { message } = await choiceOf({ message: { content: 'a', reasoning: 'hm' } });
    expect(message).toEqual({ role: 'assistant', content: 'a', reasoning_content: 'hm', refusal: null });
  });

  it('passes details, signatures and refusals through unchanged', async () => {
    const given = {
      content: null,
      refusal: 'no',
      name: 'x',
      thought_signature: 'abc=',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 0, more: { a: [1] } }],
    };
    expect((await choiceOf({ message: given })).message).toMatchObject(given);
  });

  it('keeps content of text parts, and converts other parts to a string', async () => {
    const parts = [{ type: 'text', text: 'a' }];
    const mixed = [{ type: 'thinking', thinking: 'hm' }, ...parts, { type: 'reference', reference_ids: [1] }];
    expect((await choiceOf({ message: { content: parts } })).message['content']).toEqual(parts);
    expect((await choiceOf({ message: { content: mixed } })).message).toMatchObject({
      content: 'a',
      reasoning_content: 'hm',
    });
  });

  it.each([
    [{ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }, 'stop'],
    [{ function_call: { name: 'f', arguments: '{}' } }, 'function_call'],
  ])('finishes a response that calls a function with tool_calls', async (message, reason) => {
    const choice = await choiceOf({ message, finish_reason: reason });
    expect(choice.finish_reason).toBe('tool_calls');
    expect(choice.message['tool_calls']).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'f', arguments: '{}' } },
    ]);
    expect(choice.message['function_call']).toBeUndefined();
  });

  it('keeps two identical calls separate', async () => {
    const call = { index: 0, function: { name: 'f', arguments: '{}' } };
    const { message } = await choiceOf({ message: { tool_calls: [call, call] } });
    expect(message['tool_calls']).toHaveLength(2);
  });

  it.each([
    ['a wrapper without refusal', { content: tokens('a') }, { content: tokens('a'), refusal: null }],
    ['a list', tokens('a'), { content: tokens('a'), refusal: null }],
    ['one token', { token: 'a', logprob: -0.5 }, { content: tokens('a'), refusal: null }],
    ['a wrapper around nothing', { content: null }, { content: null, refusal: null }],
    ['an unknown format', { tokens: ['a'] }, null],
  ])('converts logprobs given as %s to the wrapper that clients expect', async (_, logprobs, expected) => {
    expect((await choiceOf({ message: {}, logprobs })).logprobs).toEqual(expected);
  });
});

describe('WholeEncoder with reasoning removed', () => {
  it('has no blocks, no reasoning_content and none of their tokens', async () => {
    const { message, logprobs } = await withoutReasoning({
      message: { content: '<think>x</think>\n\nHi you', reasoning_content: 'hm' },
      logprobs: { content: tokens('<', 'think', '>', 'x', '</think>', '\n\n', 'Hi', ' you') },
    });
    expect(message).toMatchObject({ content: 'Hi you', reasoning_content: null });
    expect(logprobs).toEqual({ content: tokens('Hi', ' you'), refusal: null });
  });

  it('does not change a response without reasoning', async () => {
    const choice = { message: { content: 'Hi <b>' }, logprobs: { content: tokens('Hi <b>') } };
    expect(await withoutReasoning(choice)).toEqual(await choiceOf(choice));
    const silent = { message: { content: null } };
    expect(await withoutReasoning(silent, true)).toEqual(await choiceOf(silent));
  });

  it('reads content parts as one text', async () => {
    const content = ['<thi', 'nk>x</think>Hi'].map((text) => ({ type: 'text', text }));
    expect((await withoutReasoning({ message: { content } })).message['content']).toBe('Hi');
  });
});
