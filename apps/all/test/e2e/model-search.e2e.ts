import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { type Script, ScriptedBackend, scriptMessage } from '../scripted-backend.js';
import { Engine, ORDER } from '../search-engine.js';
import { type SeenResponse, seenOf } from '../seen-response.js';

const engine = new Engine();
let scripted: ScriptedBackend;
let platform: Platform;

beforeAll(async () => {
  await engine.start();
  scripted = await ScriptedBackend.start();
  platform = await Platform.start({
    web: {
      search: {
        providers: [{ kind: 'searxng', url: engine.url, deadlineMs: 4_000 }],
        cacheSeconds: 0,
      },
      extras: { webSearch: 0.01 },
    },
    models: [
      { id: 'scripted', backends: [{ url: scripted.url, model: 'scripted' }] },
      { id: 'dear', pricing: { input: 100, output: 1_000 } },
    ],
    env: { GATEWAY_FIRST_TOKEN_WAIT_MS: '100' },
  });
});
afterAll(async () => {
  await platform.stop();
  await engine.close();
  await scripted.close();
});
beforeEach(() => void (engine.mode = 'answers'));

const SEARCH_NANO = 10_000_000;
const CALLS = 'How tall is it? [[sim tool=web_search arguments={"query":"tower%20height"}]]';

const ask = (message: string | { content: string }, rest: object = {}, parameters: object = {}) => ({
  model: typeof message === 'string' ? 'test-model' : 'scripted',
  messages: [typeof message === 'string' ? { role: 'user', content: message } : message],
  svc_parameters: { enable_web_search: 'auto', ...parameters },
  ...rest,
});

async function responseTo(apiKey: string, body: object): Promise<SeenResponse> {
  const response = await platform.chat(apiKey, body);
  expect(response.status).toBe(200);
  return seenOf(response);
}

async function spentNano(id: string, before = '10.00'): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((Number(before) - Number(usd)) * 1e9);
}

/** The simulator's requests and counts since then. */
function asksSince(count: number) {
  return platform.simulator
    .requests()
    .slice(count)
    .map(({ body, promptTokens, completionTokens }) => ({
      ...(JSON.parse(body) as { messages: { role: string; content: string }[]; tools?: object[] }),
      promptTokens,
      completionTokens,
    }));
}

describe('a model that calls for a search', () => {
  it.each([
    ['streamed', { stream: true }, '10.00'],
    ['whole', {}, '10.00'],
    ['gathered', { model: 'dear' }, '3.00'],
  ] as const)('gets the results and completes, and its call is not visible: %s', async (_, rest, credit) => {
    const { id, apiKey } = await platform.account(credit);
    const before = platform.simulator.requests().length;
    const answer = await responseTo(apiKey, ask(CALLS, rest));
    expect(engine.queries.at(-1)).toBe('tower height');
    expect(answer.content).toContain('It is 330 metres tall.');
    expect(answer).toMatchObject({ finish: 'stop', calls: [] });
    expect(answer.raw).not.toContain('tool_calls');
    expect(answer.svc_parameters.web_search_query).toBe('tower height');
    expect(answer.svc_parameters.web_search_error).toBeUndefined();
    expect(answer.svc_parameters.web_search_citations).toHaveLength(2);
    const asks = asksSince(before);
    expect(asks).toHaveLength(2);
    const sum = (of: (one: (typeof asks)[number]) => number): number =>
      asks.reduce((total, one) => total + of(one), 0);
    expect(answer.usage.prompt_tokens).toBe(sum(({ promptTokens }) => promptTokens));
    expect(answer.usage.completion_tokens).toBe(sum(({ completionTokens }) => completionTokens));
    const costNano = Math.round(answer.cost.usd * 1e9);
    expect(costNano).toBeGreaterThan(SEARCH_NANO);
    expect(await spentNano(id, credit)).toBe(costNano);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('gets them as the result of its call, after an unchanged prompt, enclosed in markers', async () => {
    const { apiKey } = await platform.account();
    const before = platform.simulator.requests().length;
    await responseTo(apiKey, ask(CALLS, { stream: true }));
    const [first, second] = asksSince(before);
    expect(first?.tools).toHaveLength(1);
    expect(second?.tools).toEqual(first?.tools);
    expect(second?.messages.slice(0, -2)).toEqual(first?.messages);
    const [call, result] = second?.messages.slice(-2) ?? [];
    const called = { name: 'web_search', arguments: '{"query":"tower height"}' };
    expect(call).toMatchObject({ role: 'assistant', tool_calls: [{ type: 'function', function: called }] });
    expect(result).toMatchObject({ role: 'tool' });
    const [, code = ''] =
      /\[Untrusted content ([0-9a-f]{12}): web results\]/.exec(result?.content ?? '') ?? [];
    const [own = '', block = ''] = (result?.content ?? '').split(`[Untrusted content ${code}: web results]`);
    expect(own).not.toContain(ORDER);
    expect(block).toContain(ORDER);
    expect(block).not.toContain('<|im_start|>');
    expect(block.trimEnd().endsWith(`[End of untrusted content ${code}]`)).toBe(true);
  });

  it('returns the results if requested, before the text that is based on them', async () => {
    const { apiKey } = await platform.account();
    const shown = { include_search_results_in_stream: true, return_search_results_as_documents: true };
    const { raw } = await responseTo(apiKey, ask(CALLS, { stream: true }, shown));
    const [first, second] = raw.split('\n\n').filter((event) => event.startsWith('data: '));
    expect(first).toContain('"choices":[],"svc_parameters":{"web_search_citations":[{"title":"The Tower"');
    expect(second).toContain('svc_web_search_documents');
  });

  it('may also complete at once; then nothing is searched or charged for it', async () => {
    const { id, apiKey } = await platform.account();
    const [before, searches] = [platform.simulator.requests().length, engine.queries.length];
    const auto = ask(
      'What is the latest news? Reply exactly: none',
      { stream: true },
      {
        include_search_results_in_stream: true,
      },
    );
    const answer = await responseTo(apiKey, auto);
    expect(answer).toMatchObject({ content: 'none', finish: 'stop' });
    expect(answer.svc_parameters).toMatchObject({ enable_web_search: 'auto', web_search_citations: [] });
    expect(answer.svc_parameters.web_search_query).toBeUndefined();
    expect(asksSince(before)).toHaveLength(1);
    expect(engine.queries.length).toBe(searches);
    expect(answer.cost.usd).toBeLessThan(0.01);
    expect(await spentNano(id)).toBe(Math.round(answer.cost.usd * 1e9));
  });

  it('gets the tool under a name that is not taken', async () => {
    const { apiKey } = await platform.account();
    const before = platform.simulator.requests().length;
    const tools = [{ type: 'function', function: { name: 'web_search', parameters: { type: 'object' } } }];
    const answer = await responseTo(apiKey, ask('go [[sim tool=web_search]]', { tools }));
    expect(answer).toMatchObject({ calls: [{ name: 'web_search' }], finish: 'tool_calls' });
    expect(JSON.stringify(asksSince(before)[0]?.tools)).toContain('"name":"web_search_2"');
  });

  it.each([
    ['forces a tool', { tool_choice: 'required' }],
    ['forbids tools', { tool_choice: 'none' }],
    ['wants JSON', { response_format: { type: 'json_object' } }],
    ['wants several answers', { n: 2 }],
    ['leaves no room', { max_tokens: 32 }],
  ])('gets no tool if the request %s: the rule decides', async (_, rest) => {
    const { apiKey } = await platform.account();
    const [before, searches] = [platform.simulator.requests().length, engine.queries.length];
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    await responseTo(apiKey, ask('What is the latest news?', { tools, ...rest }));
    expect(engine.queries.length).toBe(searches + 1);
    expect(JSON.stringify(asksSince(before))).not.toContain('web_search');
  });
});

const chunk = (delta: object, reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const text = (content: string): object => chunk({ content });
const call = (name: string, args: string, index = 0): object =>
  chunk({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: args } }] });
const more = (args: string, index = 0): object =>
  chunk({ tool_calls: [{ index, function: { arguments: args } }] });
const CALLED = chunk({}, 'tool_calls');
const FOUND: Script = { chunks: [text('330 metres'), chunk({}, 'stop')] };
const SEARCH = call('web_search', '{"query":"x y"}');
const LOOK = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

interface Case {
  readonly script: readonly Script[];
  readonly tools?: readonly object[];
  /** The client's view. */
  readonly expected: Partial<SeenResponse>;
  /** The query; undefined if there is no search. */
  readonly query?: string;
}

/** The query derived from the last message, if the call has no valid arguments. */
const FALLBACK = expect.stringMatching(/chunks/) as string;

const CASES: Record<string, Case> = {
  'text before it is delivered, separated from the text after it': {
    script: [{ chunks: [text('Let me '), text('look.'), SEARCH, CALLED] }, FOUND],
    expected: { content: 'Let me look.\n\n330 metres', finish: 'stop', calls: [] },
    query: 'x y',
  },
  'reasoning before it is delivered': {
    script: [{ chunks: [chunk({ reasoning_content: 'Hm.' }), SEARCH, CALLED] }, FOUND],
    expected: { content: '330 metres', thoughts: 'Hm.', finish: 'stop' },
    query: 'x y',
  },
  'text and calls after it are dropped': {
    script: [{ chunks: [SEARCH, call('look', '{}', 1), text('and so on'), CALLED] }, FOUND],
    tools: [LOOK],
    expected: { content: '330 metres', finish: 'stop', calls: [] },
    query: 'x y',
  },
  "is dropped after a call of the client's own tool": {
    script: [{ chunks: [call('look', '{"a":'), more('1}'), call('web_search', '{"query":"x"}', 1), CALLED] }],
    tools: [LOOK],
    expected: { content: '', finish: 'tool_calls', calls: [{ name: 'look' }, {}] },
  },
  'runs once: a second call is dropped': {
    script: [{ chunks: [SEARCH, CALLED] }, { chunks: [text('Well. '), SEARCH, CALLED] }],
    expected: { content: 'Well. ', finish: 'stop', calls: [] },
    query: 'x y',
  },
  'is recognized in pieces with a late name': {
    script: [
      {
        chunks: [
          chunk({ role: 'assistant', content: '' }),
          chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { arguments: '' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { name: 'web_search', arguments: '{"que' } }] }),
          more('ry":"x y"}'),
          CALLED,
        ],
      },
      FOUND,
    ],
    expected: { content: '330 metres', calls: [] },
    query: 'x y',
  },
  'with truncated arguments searches for the topic of the conversation': {
    script: [{ chunks: [call('web_search', '{"que'), chunk({}, 'length')] }, FOUND],
    expected: { content: '330 metres', finish: 'stop' },
    query: FALLBACK,
  },
  'with arguments that are not JSON searches for the topic of the conversation': {
    script: [{ chunks: [call('web_search', 'query=x'), CALLED] }, FOUND],
    expected: { content: '330 metres' },
    query: FALLBACK,
  },
  'in a stream that breaks within it searches for the topic of the conversation': {
    script: [{ chunks: [call('web_search', '{"query":')], breaks: true }, FOUND],
    expected: { content: '330 metres', finish: 'stop' },
    query: FALLBACK,
  },
  'with endless arguments is cut off': {
    script: [{ chunks: [call('web_search', '{"query":"'), more('x'.repeat(5_000)), text('still')] }, FOUND],
    expected: { content: '330 metres', finish: 'stop' },
    query: FALLBACK,
  },
};

describe('a search call', () => {
  it.each(Object.entries(CASES))('%s', async (_, { script, tools, expected, query }) => {
    const { id, apiKey } = await platform.account();
    const searches = engine.queries.length;
    const body = ask(scriptMessage(script), { stream: true, ...(tools && { tools }) });
    const answer = await responseTo(apiKey, body);
    expect(answer).toMatchObject(expected);
    expect(engine.queries.slice(searches)).toEqual(query === undefined ? [] : [query]);
    expect(answer.svc_parameters.web_search_query).toEqual(query);
    expect(answer.raw).not.toContain('"name":"web_search"');
    expect(await spentNano(id)).toBe(Math.round(answer.cost.usd * 1e9));
  });

  it("preserves the reasoning that came with it, in the provider's format", async () => {
    const { apiKey } = await platform.account();
    const signed = { extra_content: { google: { thought_signature: 'abc=' } } };
    const message = {
      role: 'assistant',
      content: 'Let me look.',
      reasoning_content: 'Hm.',
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          ...signed,
          function: { name: 'web_search', arguments: '{"query":"x"}' },
        },
      ],
    };
    const answer = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    const end = { choices: [{ index: 0, message: { content: 'Done.' }, finish_reason: 'stop' }] };
    const whole = await responseTo(apiKey, ask(scriptMessage([{ answer }, { answer: end }])));
    expect(whole).toMatchObject({
      content: 'Let me look.\n\nDone.',
      thoughts: 'Hm.',
      finish: 'stop',
      calls: [],
    });
    const { messages, tools } = scripted.requests.at(-1) ?? { messages: [] };
    expect(messages.at(-2)).toEqual(message);
    expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c' });
    expect(tools).toHaveLength(1);
  });

  it('is charged with the output delivered before it if the follow-up call fails', async () => {
    const { id, apiKey } = await platform.account();
    const script = [{ chunks: [text('Let me look.'), SEARCH, CALLED] }, { status: 400 }];
    const response = await platform.chat(apiKey, ask(scriptMessage(script), { stream: true }));
    const { text: shown, chunks, done } = await chunksOf(response);
    expect(shown).toBe('Let me look.');
    expect(chunks.at(-1)).toHaveProperty('error');
    expect(done).toBe(true);
    await eventually('it is charged', async () => (await spentNano(id)) > 0);
    expect(await spentNano(id)).toBeLessThan(SEARCH_NANO);
  });

  it('costs nothing if no output follows it', async () => {
    const { id, apiKey } = await platform.account();
    for (const last of [{ status: 400 }, { chunks: [SEARCH, CALLED] }]) {
      const script = scriptMessage([{ chunks: [SEARCH, CALLED] }, last]);
      const raw = await (await platform.chat(apiKey, ask(script, { stream: true }))).text();
      expect(raw).not.toContain('tower.example');
    }
    expect(await spentNano(id)).toBe(0);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

describe('a search by the model', () => {
  it('does not stop the completion if it fails: the model and the client are informed', async () => {
    engine.mode = 'fails';
    const { id, apiKey } = await platform.account();
    const answer = await responseTo(apiKey, ask(CALLS));
    const why = 'Answered without a search: no search provider responded.';
    expect(answer.content).toContain(why);
    expect(answer.svc_parameters).toMatchObject({
      web_search_query: 'tower height',
      web_search_error: why,
      web_search_citations: [],
    });
    expect(answer.cost.usd).toBeLessThan(0.01);
    expect(await spentNano(id)).toBe(Math.round(answer.cost.usd * 1e9));
  });

  it('is not made without money for it, and the completion continues without it', async () => {
    const { id, apiKey } = await platform.account('0.0099');
    const searches = engine.queries.length;
    const answer = await responseTo(apiKey, ask(CALLS, { stream: true }));
    expect(engine.queries.length).toBe(searches);
    expect(answer.svc_parameters.web_search_error).toBe(
      'Answered without a search: there is too little credit for it.',
    );
    expect(answer.content).not.toBe('');
    expect(await spentNano(id, '0.0099')).toBe(Math.round(answer.cost.usd * 1e9));
  });

  it('sends keep-alives on a stream, and is cancelled without a charge when its client disconnects', async () => {
    engine.mode = 'hangs';
    const { id, apiKey } = await platform.account();
    const [before, gone] = [platform.simulator.requests().length, engine.gone];
    const leaving = new AbortController();
    const response = await platform.chat(apiKey, ask(CALLS, { stream: true }), { signal: leaving.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(value).toBe(': keep-alive\n\n');
    leaving.abort();
    await eventually('the engine is let go', () => engine.gone > gone);
    await eventually('nothing is held', async () => (await spentNano(id)) === 0);
    expect(asksSince(before)).toHaveLength(1);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});
