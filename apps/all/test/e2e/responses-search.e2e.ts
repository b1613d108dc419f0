import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import type { Cost } from '../response-bodies.js';
import { Engine } from '../search-engine.js';

const SEARCH_NANO = 10_000_000;

const model = 'test-model';
const question = 'How tall is the tower? Reply exactly: 330 m';

interface Item {
  readonly type: string;
  readonly content?: readonly { readonly text: string }[];
}

interface Searched {
  readonly output: readonly Item[];
  readonly cost: Cost;
  readonly svc_parameters: { readonly enable_web_search: string };
}

interface Chatted {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly cost: Cost;
}

const engine = new Engine();
let platform: Platform;

beforeAll(async () => {
  await engine.start();
  const provider = { kind: 'searxng', url: engine.url, deadlineMs: 4_000 };
  platform = await Platform.start({
    web: { search: { providers: [provider], cacheSeconds: 0 }, extras: { webSearch: 0.01 } },
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
  const body = { messages, svc_parameters: { enable_web_search: 'on' } };
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
