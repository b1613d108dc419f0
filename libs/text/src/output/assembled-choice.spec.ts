import { describe, expect, it } from 'vitest';
import { AssembledChoice } from './assembled-choice.js';
import { OpenAiOutput } from '../../test/openai-output.js';

const KEPT = { strip: false, startsInside: false };

/** The choice assembled from chunks; cut off if it does not finish by itself. */
function assembled(isCut: boolean, ...chunks: Record<string, unknown>[]) {
  const output = new OpenAiOutput({ thinking: KEPT, tokenizer: undefined });
  const choice = new AssembledChoice(0);
  for (const chunk of chunks)
    for (const piece of output.read(JSON.stringify({ choices: [chunk] }))) choice.add(piece);
  for (const piece of output.normaliser.finish(isCut ? 'length' : 'stop')) choice.add(piece);
  return choice.whole();
}

const gathered = (...chunks: Record<string, unknown>[]) => assembled(false, ...chunks);
const deltas = (...given: object[]): Record<string, unknown>[] => given.map((delta) => ({ index: 0, delta }));
const messageOf = (...given: object[]) => gathered(...deltas(...given))['message'];
const token = (text: string) => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] });

describe('AssembledChoice', () => {
  it('joins texts, and uses null where there are none', () => {
    expect(
      messageOf({ role: 'assistant', content: '' }, { content: 'a' }, { content: null }, { content: 'b' }),
    ).toEqual({
      role: 'assistant',
      content: 'ab',
      reasoning_content: null,
      refusal: null,
    });
    expect(messageOf({ reasoning: 'a', refusal: 'n' }, { reasoning_content: 'b', refusal: 'o' })).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'ab',
      refusal: 'no',
    });
  });

  it('joins the logprobs of all chunks in every format', () => {
    const choice = gathered(
      { delta: { content: 'a' }, logprobs: { content: [token('a')], refusal: null } },
      { delta: { content: 'b' }, logprobs: null },
      { delta: { content: 'c' }, logprobs: { content: [token('c')] } },
      { delta: { content: 'd' }, logprobs: [token('d')] },
      { delta: { refusal: 'e' }, logprobs: { content: null, refusal: [token('e')] } },
    );
    const content = [token('a'), token('c'), token('d')];
    expect(choice['logprobs']).toEqual({ content, refusal: [token('e')] });
    expect(gathered({ delta: { content: 'a' } })['logprobs']).toBeNull();
  });

  it('joins tool calls by index, with id, type and name of the first fragment', () => {
    const message = messageOf(
      { content: '' },
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '{' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
      {
        tool_calls: [
          { index: 1, function: { arguments: '}' } },
          { index: 0, function: { arguments: ':1}' } },
        ],
      },
    );
    expect(message).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
  });

  it('joins the input of other kinds of tools', () => {
    const message = messageOf(
      { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'l' } }] },
      { tool_calls: [{ index: 0, custom: { input: 's' } }] },
    );
    expect(message).toMatchObject({ tool_calls: [{ type: 'custom', custom: { name: 'sh', input: 'ls' } }] });
  });

  it('gives calls that were made without arguments empty ones, but not calls that were cut off', () => {
    const bare = (index: number): object => ({ index, id: `c${index}`, function: { name: 'f' } });
    const call = { delta: { tool_calls: [bare(0)] } };
    const empty = { function: { arguments: '{}' } };
    const finished = gathered(call, { delta: { tool_calls: [bare(1)] }, finish_reason: 'tool_calls' });
    expect(finished).toMatchObject({ message: { tool_calls: [empty, empty] } });
    expect(assembled(true, call)).toMatchObject({
      message: { tool_calls: [{ function: { arguments: '' } }] },
    });
  });

  it('keeps other members of a message or choice: the last value, with lists joined', () => {
    const choice = gathered(
      { delta: { thought_signature: 'a', annotations: [1] }, stop_reason: null, finish_reason: '' },
      { delta: { thought_signature: 'b', annotations: [2] }, stop_reason: 'stop', finish_reason: 'stop' },
    );
    expect(choice).toMatchObject({
      stop_reason: 'stop',
      finish_reason: 'stop',
      message: { thought_signature: 'b', annotations: [1, 2] },
    });
  });

  it('takes the first non-empty finish_reason, since some backends leave it empty until then', () => {
    const text = (content: string, finish_reason: string | null) => ({ delta: { content }, finish_reason });
    const choice = gathered(text('a', ''), text('b', null), text('c', 'length'), text('d', 'stop'));
    expect(choice).toMatchObject({ finish_reason: 'length', message: { content: 'abc' } });
  });
});

describe('a list that a backend extends', () => {
  const detail = (index: number, text = 'x') => ({
    reasoning_details: [{ type: 'reasoning.text', index, text }],
  });

  it('merges entries with the same index', () => {
    expect(messageOf(detail(0, 'a'), detail(1, 'b'), detail(0, 'c'))).toMatchObject({
      reasoning_details: [
        { index: 0, text: 'ac' },
        { index: 1, text: 'b' },
      ],
    });
  });

  it('takes linear time', () => {
    // The minimum of several runs, since a busy machine may delay some of them.
    const time = (...given: object[]): number => {
      let leastMs = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 2; round += 1) {
        const startMs = performance.now();
        messageOf(...given);
        leastMs = Math.min(leastMs, performance.now() - startMs);
      }
      return leastMs;
    };
    const many = (of: (at: number) => number) => Array.from({ length: 8_000 }, (_, at) => detail(of(at)));
    time(...many(() => 0));
    expect(time(...many((at) => at))).toBeLessThan(time(...many(() => 0)) * 10);
  });
});

describe('a backend that sends too many choices', () => {
  it('is rejected', () => {
    const choices = (count: number) => Array.from({ length: count }, (_, index) => ({ index, delta: {} }));
    const read = (count: number) =>
      new OpenAiOutput({ thinking: KEPT, tokenizer: undefined }).read(
        JSON.stringify({ choices: choices(count) }),
      );
    expect(read(128).length).toBe(128);
    expect(() => read(129)).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }));
  });
});
