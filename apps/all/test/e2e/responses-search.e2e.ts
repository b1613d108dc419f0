import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import type { Cost } from '../response-bodies.js';
import { Engine } from '../search-engine.js';

const SEARCH_NANO = 10_000_000;

const model = 'test-model';
const question = 'How tall is the tower? Reply exactly: 330 m';

interface Item {
  readonly type: string;
  readonly content?: readonly { readonly text: string; readonly annotations: readonly object[] }[];
}

interface Searched {
  readonly output: readonly Item[];
  readonly cost: Cost;
  readonly svc_parameters: {
    readonly enable_web_search: string;
    readonly web_search_citations: readonly object[];
  };
}

interface Chatted {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly cost: Cost;
}

const engine = new Engine();
let platform: Platform;

beforeAll(async () => {
  await engine.start();
  const provider = { kind: 'searxng', url: engine.url, deadlineMs: 4_000, language: 'de' };
  platform = await Platform.start({
    web: { search: { providers: [provider], cacheSeconds: 0, results: 2 }, extras: { webSearch: 0.01 } },
  });
});

afterAll(async () => {
  await platform.stop();
  await engine.close();
});

async function post(path: string, { apiKey }: TestAccount, body: object): Promise<Response> {
  const response = await fetch(platform.apiUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
  });
  expect(response.status).toBe(200);
  return response;
}

async function searched(account: TestAccount, body: object): Promise<Searched> {
  const response = await post('/responses', account, { input: question, ...body });
  if (!('stream' in body)) return (await response.json()) as Searched;
  const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const last = JSON.parse(events.at(-1)?.slice('data: '.length) ?? '{}') as { response: Searched };
  return last.response;
}

async function chatted(account: TestAccount): Promise<Chatted> {
  const messages = [{ role: 'user', content: question }];
  const body = { messages, svc_parameters: { enable_web_search: 'on', enable_web_citations: true } };
  return (await (await post('/chat/completions', account, body)).json()) as Chatted;
}

async function spentNano({ id }: TestAccount): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((10 - Number(usd)) * 1e9);
}

const textOf = ({ output }: Searched): string | undefined =>
  output.find(({ type }) => type === 'message')?.content?.[0]?.text;

const tool = { type: 'web_search' };

describe('the built-in tool web_search of POST /responses', () => {
  it.each<[string, object]>([
    ['demanded', { tools: [tool], tool_choice: tool }],
    [
      'by its older name',
      { tools: [{ type: 'web_search_preview' }], tool_choice: { type: 'web_search_preview' } },
    ],
    ['demanded, streamed', { tools: [tool], tool_choice: tool, stream: true }],
    ['as the field web_search', { web_search: true }],
  ])('searches, says and costs what a chat completion with a search does (%s)', async (_, body) => {
    engine.mode = 'answers';
    const expected = await chatted(await platform.account());
    const account = await platform.account();
    const searches = engine.queries.length;
    const answer = await searched(account, body);
    expect(engine.queries.length - searches).toBe(1);
    expect(textOf(answer)).toBe(expected.choices[0]?.message.content);
    expect(answer.cost).toEqual(expected.cost);
    expect(answer.svc_parameters.enable_web_search).toBe('on');
    const costNano = Math.round(answer.cost.usd * 1e9);
    expect(costNano).toBeGreaterThan(SEARCH_NANO);
    await expect.poll(() => spentNano(account)).toBe(costNano);
    expect(answer.output.map(({ type }) => type)).toEqual(['web_search_call', 'message']);
    expect(answer.output[0]).toMatchObject({
      status: 'completed',
      action: { type: 'search', query: engine.queries.at(-1) },
    });
  });

  it('is charged as without a search if the search fails', async () => {
    engine.mode = 'fails';
    const account = await platform.account();
    const answer = await searched(account, { tools: [tool], tool_choice: tool });
    expect(answer.output.map(({ type }) => type)).toEqual(['message']);
    expect(Math.round(answer.cost.usd * 1e9)).toBeLessThan(SEARCH_NANO);
    await expect.poll(() => spentNano(account)).toBe(Math.round(answer.cost.usd * 1e9));
  });

  it.each<[string, object, string]>([
    ['lets the model decide unless it is demanded', { tools: [tool] }, 'auto'],
    ['does not search if no tool may be called', { tools: [tool], tool_choice: 'none' }, 'off'],
    ['gives way to svc_parameters', { tools: [tool], svc_parameters: { enable_web_search: 'off' } }, 'off'],
    ['is not offered with web_search: false', { tools: [tool], web_search: false }, 'off'],
  ])('%s', async (_, body, state) => {
    engine.mode = 'answers';
    const answer = await searched(await platform.account(), body);
    expect(answer.svc_parameters.enable_web_search).toBe(state);
  });
});

describe('the citations of a text after a search', () => {
  const text = 'Tall 🙂.[REF]0[/REF] Both.[REF]1, 0[/REF] None.[REF]7[/REF]';
  const whole = 'Tall 🙂.[REF]0[/REF] Both.[REF]1[/REF][REF]0[/REF] None.';
  const cited = (index: number, mark: string, from = 0) => {
    // As Python counts, by which an emoji is one character.
    const start = Array.from(whole.slice(0, whole.indexOf(mark, from))).length;
    const [title, url] =
      [['The Tower', 'https://tower.example/'] as const, ['Another', 'https://other.example/'] as const][
        index
      ] ?? [];
    return { type: 'url_citation', url, title, start_index: start, end_index: start + mark.length };
  };
  const annotations = [
    cited(0, '[REF]0[/REF]'),
    cited(1, '[REF]1[/REF]'),
    cited(0, '[REF]0[/REF]', whole.indexOf('Both')),
  ];
  const body = {
    model,
    input: `How tall is it? Reply exactly: ${text}`,
    tools: [{ type: 'web_search' as const }],
  };
  const choice = { type: 'web_search_preview' as const };
  const client = ({ apiKey }: TestAccount) => new OpenAI({ baseURL: platform.apiUrl, apiKey, maxRetries: 0 });

  it("are its annotations, as OpenAI's package has them", async () => {
    engine.mode = 'answers';
    const openai = client(await platform.account());
    const { output_text: shown, output } = await openai.responses.create({ ...body, tool_choice: choice });
    expect(shown).toBe(whole);
    const part = output.flatMap((item) => (item.type === 'message' ? item.content : []))[0];
    expect(part).toMatchObject({ type: 'output_text', annotations });
  });

  it('arrive in a stream as events, each after its text', async () => {
    engine.mode = 'answers';
    const openai = client(await platform.account());
    const stream = openai.responses.stream({ ...body, tool_choice: choice });
    const added: unknown[] = [];
    let soFar = '';
    const reached: boolean[] = [];
    stream.on('event', (event) => {
      if (event.type === 'response.output_text.delta') soFar += event.delta;
      if (event.type !== 'response.output_text.annotation.added') return;
      expect(event.annotation_index).toBe(added.length);
      added.push(event.annotation);
      const { end_index: end } = event.annotation as OpenAI.Responses.ResponseOutputText.URLCitation;
      reached.push([...soFar].length >= end);
    });
    const { output } = await stream.finalResponse();
    expect(added).toEqual(annotations);
    expect(reached).toEqual([true, true, true]);
    const part = output.flatMap((item) => (item.type === 'message' ? item.content : []))[0];
    expect(part).toMatchObject({ type: 'output_text', text: whole, annotations });
  });

  it('are not marked if the client does not want that, nor without results', async () => {
    const plain = { ...body, tool_choice: tool, svc_parameters: { enable_web_citations: false } };
    engine.mode = 'answers';
    expect(
      (await searched(await platform.account(), plain)).output.at(-1)?.content?.[0]?.annotations,
    ).toEqual([]);
    engine.mode = 'finds nothing';
    const none = await searched(await platform.account(), { ...body, tool_choice: tool });
    expect(none.output.at(-1)?.content?.[0]?.annotations).toEqual([]);
  });
});

describe('the options of the tool web_search', () => {
  it('decide how much is found, and for which country', async () => {
    engine.mode = 'answers';
    const account = await platform.account();
    const small = {
      ...tool,
      search_context_size: 'low',
      user_location: { type: 'approximate', country: 'at' },
    };
    const answer = await searched(account, { tools: [small], tool_choice: tool });
    expect(answer.svc_parameters.web_search_citations).toHaveLength(1);
    expect(engine.languages.at(-1)).toBe('de-AT');
    const large = await searched(account, { tools: [tool], tool_choice: tool });
    expect(large.svc_parameters.web_search_citations).toHaveLength(2);
    expect(engine.languages.at(-1)).toBe('de');
  });

  it.each<[string, object]>([
    ['tools.0.user_location.city', { user_location: { type: 'approximate', city: 'Graz' } }],
    ['tools.0.filters.allowed_domains', { filters: { allowed_domains: ['a.example'] } }],
    ['tools.0.search_context_size', { search_context_size: 'huge' }],
  ])('are refused by name if they cannot be honoured: %s', async (param, options) => {
    const { apiKey } = await platform.account();
    const response = await fetch(`${platform.apiUrl}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: question, tools: [{ ...tool, ...options }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });
});

describe('POST /responses/input_tokens', () => {
  it("counts the prompt that a response begins with, for free, as OpenAI's package asks", async () => {
    const account = await platform.account();
    const openai = new OpenAI({ baseURL: platform.apiUrl, apiKey: account.apiKey, maxRetries: 0 });
    const count = await openai.responses.inputTokens.count({ model, input: 'hi' });
    expect(count).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    const input = [{ role: 'user' as const, content: 'hi' }];
    const longer = await openai.responses.inputTokens.count({
      model,
      input,
      instructions: 'Be brief. '.repeat(100),
    });
    expect(longer.input_tokens).toBeGreaterThan(count.input_tokens + 100);
    expect(await spentNano(account)).toBe(0);
  });
});
