import type { SvcParametersEcho } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import type { ChoicePiece } from './assembled-choice.js';
import { OpenAiOutput } from '../../test/openai-output.js';
import { StreamEncoder } from './stream-encoder.js';

interface Shaped {
  choices: { index: number; delta: Record<string, unknown>; logprobs?: unknown; finish_reason: unknown }[];
}

const KEPT = { strip: false, startsInside: false };
const STRIPPED = { strip: true, startsInside: false };

/** Converts a stream to the frames that its client gets. */
class Shaper {
  private readonly output: OpenAiOutput;
  private readonly form: StreamEncoder;
  private frames = '';

  constructor(thinking: typeof KEPT) {
    this.output = new OpenAiOutput({ thinking, tokenizer: undefined });
    const write = (frames: string): undefined => void (this.frames += frames);
    const writer = { isGone: false, begin: () => undefined, write, end: write };
    const about = {
      id: 'chatcmpl-1',
      model: 'm',
      promptTokens: 0,
      parameters: {} as SvcParametersEcho,
      usageApart: true,
    };
    this.form = new StreamEncoder(writer, this.output.normaliser, about);
  }

  get meter() {
    return this.output.normaliser.meter;
  }

  get usage() {
    return this.output.normaliser.facts.reported;
  }

  shape(event: string): string {
    return this.framesOf(this.output.read(event));
  }

  finish(reason: 'stop' | 'length'): string {
    return this.framesOf(this.output.normaliser.finish(reason));
  }

  private framesOf(pieces: readonly ChoicePiece[]): string {
    this.frames = '';
    this.form.add(pieces);
    void this.form.flush();
    return this.frames;
  }
}

const shaper = (thinking = KEPT) => new Shaper(thinking);
const read = (frames: string): Shaped[] =>
  frames
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.slice('data: '.length)) as Shaped);
const chunk = (choices: unknown, rest: object = {}) =>
  JSON.stringify({
    id: 'x',
    object: 'y',
    created: 1,
    model: 'theirs',
    system_fingerprint: 'f',
    service_tier: 'default',
    kv_transfer_params: null,
    choices,
    ...rest,
  });
const of = (delta: object, rest: object = {}) => chunk([{ index: 0, delta, ...rest }]);
/** The deltas of the first choice for these backend deltas. */
const deltas = (one: Shaper, given: readonly object[]): Record<string, unknown>[] =>
  given.flatMap((delta) => read(one.shape(of(delta)))).map(({ choices }) => choices[0]?.delta ?? {});

describe('StreamEncoder', () => {
  it('streams token ids, counts them, and sends those of the prompt once', () => {
    const stream = shaper();
    const event = (content: string, ids: number[]): string =>
      JSON.stringify({ prompt_token_ids: [1, 2], choices: [{ delta: { content }, token_ids: ids }] });
    const [first] = read(stream.shape(event('a', [5])));
    const [second] = read(stream.shape(event('', [6, 7, 8])));
    expect(first).toMatchObject({ prompt_token_ids: [1, 2], choices: [{ token_ids: [5] }] });
    expect(second).toMatchObject({ choices: [{ token_ids: [6, 7, 8] }] });
    expect(second).not.toHaveProperty('prompt_token_ids');
    expect(stream.meter.tokens).toBe(4);
  });

  it("sets our id and model on every chunk and drops the backend's own members", () => {
    const [shaped] = read(shaper().shape(of({ content: 'a' }, { finish_reason: null, routed_experts: [1] })));
    expect(shaped).toMatchObject({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm' });
    expect(Object.keys(shaped ?? {})).toEqual(['id', 'object', 'created', 'model', 'choices']);
    expect(Object.keys(shaped?.choices[0] ?? {})).toEqual(['index', 'delta', 'finish_reason']);
  });

  it('sends a role in the first delta of each choice only', () => {
    const one = shaper();
    const roles = [0, 1, 0].map((index) =>
      read(one.shape(chunk([{ index, delta: { role: 'assistant', content: 'a' } }]))).map((shaped) =>
        JSON.stringify(shaped).includes('"role"'),
      ),
    );
    expect(roles).toEqual([[true], [true], [false]]);
  });

  it('accepts several choices in one chunk, and chunks without choices', () => {
    const one = shaper();
    const both = [
      { index: 1, delta: { content: 'b' } },
      { index: 0, delta: { content: 'a' } },
    ];
    expect(read(one.shape(chunk(both)))).toMatchObject([{ choices: both }]);
    expect(one.shape(chunk(undefined))).toBe('');
    expect(one.shape(chunk(null))).toBe('');
    expect(one.shape(chunk([]))).toBe('');
  });

  it('holds usage back, and uses the last one reported', () => {
    const one = shaper();
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 1 },
    };
    const early = { ...usage, completion_tokens: 1 };
    const first = read(one.shape(chunk([{ index: 0, delta: { content: 'a' } }], { usage: early })));
    expect(first[0]).not.toHaveProperty('usage');
    expect(one.shape(chunk([], { usage }))).toBe('');
    expect(one.shape(chunk([], { usage: null }))).toBe('');
    expect(one.usage).toEqual({
      promptTokens: 3,
      completionTokens: 2,
      cachedTokens: 1,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
  });

  it('finishes each choice once, even if the backend does not', () => {
    const one = shaper();
    one.shape(of({ content: 'a' }, { finish_reason: 'stop' }));
    expect(one.shape(of({}, { finish_reason: 'stop' }))).toBe('');
    one.shape(chunk([{ index: 1, delta: { content: 'b' }, finish_reason: '' }]));
    expect(read(one.finish('length'))).toMatchObject([{ choices: [{ index: 1, finish_reason: 'length' }] }]);
    expect(one.finish('length')).toBe('');
  });

  it('finishes an empty response', () => {
    expect(read(shaper().finish('stop'))).toMatchObject([
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }] },
    ]);
  });

  it.each([
    ['stop', true, 'tool_calls'],
    ['function_call', true, 'tool_calls'],
    ['length', true, 'length'],
    ['content_filter', true, 'content_filter'],
    ['tool_calls', false, 'stop'],
    ['max_tokens', false, 'length'],
    ['eos', false, 'stop'],
  ])('maps the finish_reason %s, with tool calls: %s, to %s', (given, hasCalls, expected) => {
    const one = shaper();
    if (hasCalls) one.shape(of({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] }));
    const [shaped] = read(one.shape(of({}, { finish_reason: given, stop_reason: 128_001 })));
    expect(shaped?.choices[0]).toMatchObject({ finish_reason: expected, stop_reason: null });
  });

  it('finishes tool calls with tool_calls when the backend sends no finish_reason', () => {
    const one = shaper();
    one.shape(of({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }));
    expect(read(one.finish('stop'))).toMatchObject([{ choices: [{ finish_reason: 'tool_calls' }] }]);
  });

  it('converts a legacy function_call', () => {
    const one = shaper();
    const given = [
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"a":' } },
      { function_call: { arguments: '1}' } },
    ];
    const calls = deltas(one, given).map((delta) => delta['tool_calls']);
    expect(calls).toEqual([
      [{ index: 0, id: expect.any(String), type: 'function', function: { name: 'f', arguments: '' } }],
      [{ index: 0, function: { arguments: '{"a":' } }],
      [{ index: 0, function: { arguments: '1}' } }],
    ]);
    expect(JSON.stringify(calls)).not.toContain('function_call');
  });

  it('renames reasoning to reasoning_content and counts it once', () => {
    const one = shaper();
    const given = [{ reasoning: 'hm' }, { reasoning: 'hm', reasoning_content: 'hm' }, { reasoning: null }];
    expect(deltas(one, given)).toEqual([
      { role: 'assistant', reasoning_content: 'hm' },
      { reasoning_content: 'hm' },
      {},
    ]);
    expect(one.meter.tokens).toBe(2);
  });

  it.each<[string, (text: string) => object]>([
    ['reasoning', (reasoning) => ({ reasoning })],
    ['reasoning_text', (reasoning_text) => ({ reasoning_text })],
    ['thinking', (thinking) => ({ thinking, reasoning_content: '' })],
    ['thinking as an object', (content) => ({ thinking: { content } })],
    ['reasoning_details', (text) => ({ reasoning_details: [{ type: 'reasoning.text', text }] })],
    ['a summary', (summary) => ({ reasoning_details: [{ type: 'reasoning.summary', summary }] })],
    ['thinking_blocks', (thinking) => ({ thinking_blocks: [{ type: 'thinking', thinking }] })],
    ['two names', (text) => ({ reasoning: text, reasoning_details: [{ text }], thinking: text })],
    ['a content part', (text) => ({ content: [{ type: 'reasoning', text }] })],
  ])('has reasoning that a backend sends as %s in reasoning_content, and counts it once', (_, place) => {
    const one = shaper();
    const given = deltas(one, ['hm', ', so'].map(place));
    expect(given.map((delta) => delta['reasoning_content'])).toEqual(['hm', ', so']);
    for (const name of ['reasoning', 'reasoning_text', 'thinking'])
      expect(given.some((delta) => name in delta)).toBe(false);
    expect(one.meter).toMatchObject({ pieces: 2, bytes: 6 });
  });

  it('does not repeat reasoning that a backend sends again as details', () => {
    const reasoning_details = [{ type: 'reasoning.text', text: 'hm, so', signature: 's' }];
    expect(deltas(shaper(), [{ reasoning: 'hm' }, { reasoning: ', so' }, { reasoning_details }])).toEqual([
      { role: 'assistant', reasoning_content: 'hm' },
      { reasoning_content: ', so' },
      { reasoning_details },
    ]);
  });

  it('passes unknown members through unchanged', () => {
    const delta = {
      content: 'a',
      refusal: null,
      thought_signature: 'abc=',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: '1', index: 0, more: [1] }],
    };
    expect(deltas(shaper(), [delta])).toEqual([{ ...delta, role: 'assistant' }]);
  });

  it('joins text parts, and separates reasoning parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(deltas(shaper(), [{ content }])).toEqual([
      { role: 'assistant', content: 'ab', reasoning_content: 'hm' },
    ]);
  });

  it('wraps logprobs', () => {
    const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] };
    const [shaped] = read(shaper().shape(of({ content: 'a' }, { logprobs: token })));
    expect(shaped?.choices[0]?.logprobs).toEqual({ content: [token], refusal: null });
  });

  it.each(['{"error":{"message":"boom"}}', '{"object":"error","message":"boom"}', '{', '[]'])(
    'throws at %s',
    (event) => {
      expect(() => shaper().shape(event)).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }));
    },
  );
});

describe('StreamEncoder with reasoning removed', () => {
  const pieces = ['<thi', 'nk>h', 'm</th', 'ink>\n\n', 'Hi', ' <', 'b', '> <'];

  it('sends a first delta at once, then only visible text, and the rest at the end', () => {
    const one = shaper(STRIPPED);
    const frames = pieces.map((content) => one.shape(of({ role: 'assistant', content })));
    const given = frames.map((frame) => read(frame)[0]?.choices[0]?.delta);
    expect(given).toEqual([
      { role: 'assistant', content: '' },
      undefined,
      undefined,
      undefined,
      { content: 'Hi' },
      { content: ' ' },
      { content: '<b' },
      { content: '> ' },
    ]);
    const [last] = read(one.shape(of({}, { finish_reason: 'stop' })));
    expect(last?.choices[0]).toMatchObject({ delta: { content: '<' }, finish_reason: 'stop' });
  });

  it('also sends the rest when it finishes by itself', () => {
    const one = shaper(STRIPPED);
    one.shape(of({ content: 'a <' }));
    expect(read(one.finish('stop'))).toMatchObject([
      { choices: [{ delta: { content: '<' }, finish_reason: 'stop' }] },
    ]);
  });

  it('counts everything the backend generated, even what is removed', () => {
    const [one, other] = [shaper(STRIPPED), shaper()];
    for (const content of pieces) {
      one.shape(of({ content, reasoning_content: 'hm' }));
      other.shape(of({ content, reasoning_content: 'hm' }));
    }
    expect(one.meter.tokens).toBe(other.meter.tokens);
    expect(one.meter.tokens).toBe(pieces.length * 2);
  });

  it('separates the reasoning of each choice', () => {
    const one = shaper(STRIPPED);
    const texts = ['', ''];
    for (const [index, content] of [
      [0, '<think>'],
      [1, 'one'],
      [0, 'hm'],
      [1, '<think>hm'],
      [0, '</think>zero'],
    ] as const) {
      const [shaped] = read(one.shape(chunk([{ index, delta: { content } }])));
      texts[index] += (shaped?.choices[0]?.delta['content'] as string | undefined) ?? '';
    }
    expect(texts).toEqual(['zero', 'one']);
  });

  it('drops reasoning whatever its name, but keeps signatures, which a client must send back', () => {
    const given = [
      { reasoning: 'a' },
      { reasoning_content: 'b', thinking: 'b' },
      { reasoning_text: 'c' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'd', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.text', text: 'e', signature: 's', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', summary: [{ text: 'f' }], data: 'x', id: '1' }] },
      { thinking_blocks: [{ type: 'thinking', thinking: 'g' }] },
    ];
    expect(deltas(shaper(STRIPPED), given)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: '1' }] },
    ]);
  });

  it('drops the logprobs of removed text', () => {
    const one = shaper(STRIPPED);
    const logprobs = (token: string) => ({ logprobs: { content: [{ token, logprob: 0 }] } });
    const kept = ['<think>', 'x', '</think>', 'Hi'].flatMap((content) =>
      read(one.shape(of({ content }, logprobs(content)))).map(({ choices }) => choices[0]?.logprobs),
    );
    const token = { token: 'Hi', logprob: 0, bytes: null, top_logprobs: [] };
    expect(kept).toEqual([null, { content: [token], refusal: null }]);
  });

  it('starts inside a block if the model does', () => {
    const one = shaper({ strip: true, startsInside: true });
    expect(deltas(one, [{ content: 'hm' }, { content: '</think>\nHi' }])).toEqual([
      { role: 'assistant', content: '' },
      { content: 'Hi' },
    ]);
  });
});
