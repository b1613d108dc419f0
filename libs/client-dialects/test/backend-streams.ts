import fc from 'fast-check';

/** What a backend sends for one response, cut as it arrives, and what is to be done with it. */
export interface BackendCase {
  readonly parts: readonly Buffer[];
  /** Whether it came as a body instead of a stream. */
  readonly isBody: boolean;
  readonly policy: Policy;
  /** The output tokens that the hold covers; default: all. */
  readonly coveredTokens: number;
}

/** What the platform does with a response on its way. */
export interface Policy {
  readonly strip: boolean;
  readonly startsInside: boolean;
  readonly sources: number | undefined;
  /** The internal tool, and whether it may be called. */
  readonly tool: boolean | undefined;
  readonly isEncrypted: boolean;
  readonly usageApart: boolean;
  readonly isSearched: boolean;
}

const from = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);

const mostly = <Value>(usual: Value, ...odd: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, from(...odd));

const words = from(
  'Hello',
  ' tide',
  'é',
  '🙂',
  ' <thi',
  'nk>',
  'a</think>b',
  '[1]',
  '[REF]2[/REF]',
  '\n',
  '',
  ' ',
  '"\\"',
);

const details = from<unknown>(
  [{ type: 'reasoning.text', text: 'hm', index: 0, format: 'f' }],
  [{ type: 'reasoning.text', signature: 'sig==', index: 0 }],
  [{ type: 'reasoning.encrypted', data: 'x1', id: 'r1' }],
  [{ type: 'reasoning.summary', summary: 'short', index: 1 }],
  'text',
  null,
);

const fragment = fc.record(
  {
    index: mostly<unknown>(0, 1, 2, 7, null, 'x'),
    id: from<unknown>('call_a', 'call_b', '', null, 5),
    type: mostly<unknown>('function', 'custom', '', null),
    function: from<unknown>(
      { name: 'weather', arguments: '' },
      { name: 'search' },
      { name: 'search', arguments: '{"query":"tides"}' },
      { arguments: '{"ci' },
      { arguments: 'ty":1}' },
      { name: 'f', arguments: { a: 1 } },
      { name: '', arguments: null },
      null,
    ),
    extra_content: from<unknown>({ google: { thought_signature: 'ts' } }, null),
    custom: from<unknown>({ name: 'c', input: 'x' }),
  },
  { requiredKeys: ['index', 'function'] },
);

const delta = fc.record(
  {
    role: from<unknown>('assistant', '', null),
    content: fc.oneof(
      { weight: 5, arbitrary: words },
      from<unknown>(
        null,
        '',
        5,
        [{ type: 'text', text: 'part' }],
        [
          { type: 'thinking', thinking: 'deep' },
          { type: 'text', text: 'shown' },
        ],
      ),
    ),
    reasoning_content: words,
    reasoning: from<unknown>('thought', '', null, { content: 'in an object' }),
    thinking: from<unknown>('inner', { budget: 1 }),
    reasoning_details: details,
    thinking_blocks: from<unknown>([{ type: 'thinking', thinking: 'block', signature: 's' }]),
    thought_signature: from<unknown>('tsig', null),
    refusal: from<unknown>('No.', null),
    tool_calls: fc.oneof(fc.array(fragment, { maxLength: 3 }), from<unknown>(null, {}, [null])),
    function_call: from<unknown>({ name: 'old', arguments: '{}' }, null),
    annotations: from<unknown>([{ type: 'url_citation', url_citation: { url: 'https://a.example' } }]),
    audio: from<unknown>({ id: 'au', transcript: 'said' }, null),
  },
  { requiredKeys: [] },
);

const textDelta = words.map((content) => ({ content }));
const thoughtDelta = words.map((text) => ({ reasoning_content: text }));
const callDelta = fragment.map((each) => ({ tool_calls: [each] }));

const logprobs = from<unknown>(
  { content: [{ token: 'a', logprob: -0.5, top_logprobs: [{ token: 'b', logprob: -1, note: 'x' }] }] },
  { content: null, refusal: null },
  [{ token: 'a', logprob: -0.25 }],
  { token: 'a', logprob: -1 },
  null,
  {},
  'x',
);

const finishes = mostly<unknown>(
  'stop',
  'length',
  'tool_calls',
  'end_turn',
  'MAX_TOKENS',
  'content_filter',
  'eos',
  'odd',
  'error',
  '',
  { type: 'stop' },
);

const choiceOf = (content: fc.Arbitrary<object>, member: 'delta' | 'message'): fc.Arbitrary<object> =>
  fc.record(
    {
      index: mostly<unknown>(0, 1, null, 'x'),
      [member]: content,
      logprobs,
      stop_reason: from<unknown>('stop', 'END', 7, null),
      token_ids: from<unknown>([1, 2], null),
      finish_reason: mostly<unknown>(null, '', 'stop', 'length', 'tool_calls', 'error'),
      error: mostly<unknown>(
        null,
        '',
        { message: '', code: null },
        { code: 'overloaded', message: 'secret' },
      ),
    },
    { requiredKeys: ['index', member] as never },
  );

const usage = from<unknown>(
  { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  {
    prompt_tokens: 7,
    completion_tokens: 5,
    total_tokens: 15,
    completion_tokens_details: { reasoning_tokens: 3 },
  },
  {
    prompt_tokens: 9,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
  },
  { prompt_tokens: 3, completion_tokens: 2, total_tokens: 9, cache_read_input_tokens: 4 },
  { completion_tokens: 2 },
  null,
);

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'x' };

const extras = fc.record(
  {
    usage,
    citations: from<unknown>(['https://a.example/x', 'ftp://no', 5], 'x'),
    prompt_logprobs: from<unknown>([null, { 10: { logprob: -1 }, 9: { logprob: -2 } }], null),
    prompt_token_ids: from<unknown>([1, 2, 3], ['x']),
    error: mostly<unknown>(null, '', { message: '' }, { code: 'rate_limit', message: 'secret' }),
    timings: from<unknown>({ cache_n: 2 }),
  },
  { requiredKeys: [] },
);

const chunk = (content: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc
    .tuple(fc.array(choiceOf(content, 'delta'), { minLength: 1, maxLength: 2 }), mostlyNothing(extras))
    .map(([choices, more]) => ({ ...head, choices, ...more }));

function mostlyNothing(more: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, more);
}

/** Chunks that differ only in their text, as those of most streams. */
const run = fc
  .tuple(from('content', 'content', 'reasoning', 'reasoning_content'), fc.array(words, { maxLength: 6 }))
  .map(([member, texts]) =>
    texts.map((text) => ({
      ...head,
      choices: [{ index: 0, delta: { [member]: text }, logprobs: null, finish_reason: null }],
    })),
  );

const chunks: fc.Arbitrary<readonly object[]> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: run },
      { weight: 2, arbitrary: chunk(textDelta).map((each) => [each]) },
      chunk(thoughtDelta).map((each) => [each]),
      { weight: 2, arbitrary: chunk(callDelta).map((each) => [each]) },
      { weight: 2, arbitrary: chunk(delta).map((each) => [each]) },
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((runs) => runs.flat());

const begun = {
  ...head,
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
};

const document = fc
  .tuple(
    fc.array(choiceOf(fc.oneof(delta, textDelta), 'message'), { minLength: 1, maxLength: 2 }),
    extras,
    finishes,
  )
  .map(([choices, more, reason]) =>
    JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: choices.map((choice) => ({ ...choice, finish_reason: reason })),
      ...more,
    }),
  );

const streamed = fc
  .record({
    all: chunks,
    hasBegun: fc.boolean(),
    reason: fc.option(finishes, { freq: 6 }),
    last: fc.option(usage, { freq: 3 }),
    eol: mostly('\n', '\r\n'),
    between: mostly('', ': wait\n\n', 'event: message\n'),
    end: mostly('data: [DONE]\n\n', '', 'data: [DONE]\n\nmore', 'data: {"cut', 'data: x\n\n'),
  })
  .map(({ all, hasBegun, reason, last, eol, between, end }) => {
    const ending =
      reason === null ? [] : [{ ...head, choices: [{ index: 0, delta: {}, finish_reason: reason }] }];
    const counted = last === null ? [] : [{ ...head, choices: [], usage: last }];
    const events = [...(hasBegun ? [begun] : []), ...all, ...ending, ...counted];
    return events.map((each) => `${between}data: ${JSON.stringify(each)}${eol}${eol}`).join('') + end;
  });

const text = fc.oneof(
  { weight: 8, arbitrary: streamed },
  { weight: 2, arbitrary: document },
  document.map((json) => `\uFEFF${json}`),
  from(
    '',
    'data: [DONE]\n\n',
    '{',
    '{"choices":[]}',
    '<html>',
    'data: {"object":"error","message":"x","code":"busy"}\n\n',
  ),
);

const policy: fc.Arbitrary<Policy> = fc.record({
  strip: mostly(false, true),
  startsInside: mostly(false, true),
  sources: mostly<number | undefined>(undefined, 0, 2),
  tool: mostly<boolean | undefined>(undefined, true, false),
  isEncrypted: mostly(false, false, false, true),
  usageApart: from(true, false),
  isSearched: mostly(false, true),
});

/** Parts of this many bytes, or for 0 one for each event. */
function cut(text: string, size: number): Buffer[] {
  if (size === 0) return text.split(/(?<=\n\n)/).map((part) => Buffer.from(part));
  const bytes = Buffer.from(text);
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
  return parts;
}

const backendCase: fc.Arbitrary<BackendCase> = fc
  .record({
    text,
    isBody: mostly(false, true),
    policy,
    size: from(0, 0, 0, 1_000_000, 160, 37, 3),
    coveredTokens: mostly(Number.POSITIVE_INFINITY, 4, 9),
  })
  .map(({ text: sent, size, ...others }) => ({ ...others, parts: cut(sent, size) }));

/** The same cases in every run. */
export const backendCases = (count: number): readonly BackendCase[] =>
  fc.sample(backendCase, { numRuns: count, seed: 49 });
