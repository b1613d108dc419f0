import { json } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cost, chunksOf, errorOf } from '../response-bodies.js';
import { Platform } from '../platform.js';

interface Answered {
  cost: Cost;
  svc_parameters: { web_search_citations: object[]; enable_x_search: boolean };
}

const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, num_sources_used: 2 };
const CITATIONS = ['https://x.com/a/status/1', 'https://news.example/x', 'javascript:alert(1)', 7];

let backend: TestServer;
let platform: Platform;
const bodies: Record<string, unknown>[] = [];

beforeAll(async () => {
  backend = await TestServer.start((request, response) => {
    void json(request).then((body) => {
      const sent = body as Record<string, unknown>;
      bodies.push(sent);
      const text = 'They say [so](https://x.com/a/status/1).';
      if (sent['stream'] !== true) {
        const message = { role: 'assistant', content: text };
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        const answer = { id: 'x', choices, citations: CITATIONS, usage: USAGE };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      const chunk = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`);
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: text } }] });
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], citations: CITATIONS });
      chunk({ choices: [], usage: USAGE });
      response.end('data: [DONE]\n\n');
    });
  });
  const backends = [{ url: `${backend.url}/v1`, model: 'native' }];
  const capabilities = { supportsXSearch: true };
  platform = await Platform.start({
    web: { extras: { xSearch: 0.01 } },
    models: [
      { id: 'native', capabilities, backends },
      { id: 'other-way', capabilities, backends, xSearch: { members: { plugins: [{ id: 'web' }] } } },
    ],
  });
});
afterAll(async () => {
  await platform.stop();
  await backend.close();
});

const ask = (model: string, parameters: object, rest: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'What do they say?' }],
  svc_parameters: parameters,
  ...rest,
});

async function spentNano(id: string): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((10 - Number(usd)) * 1e9);
}

describe('a search by the model provider', () => {
  it.each([false, true])(
    "is requested in xAI's format, reported in the echo, and charged, with stream=%s",
    async (stream) => {
      const { id, apiKey } = await platform.account();
      const body = ask('native', { enable_x_search: true, enable_web_search: 'on' }, { stream });
      const response = await platform.chat(apiKey, body);
      expect(response.status).toBe(200);
      const answer = (stream ? (await chunksOf(response)).chunks.at(-1) : await response.json()) as Answered;
      expect(bodies.at(-1)).toMatchObject({
        search_parameters: { mode: 'on', return_citations: true, sources: [{ type: 'web' }, { type: 'x' }] },
      });
      expect(answer.svc_parameters).toMatchObject({ enable_x_search: true });
      expect(answer.svc_parameters.web_search_citations).toEqual([
        { title: 'x.com', url: 'https://x.com/a/status/1' },
        { title: 'news.example', url: 'https://news.example/x' },
      ]);
      const costNano = Math.round(answer.cost.usd * 1e9);
      expect(costNano).toBeGreaterThan(10_000_000);
      expect(await spentNano(id)).toBe(costNano);
      expect(await platform.audit()).toMatchObject({ body: { ok: true } });
    },
  );

  it('is requested as the catalogue specifies', async () => {
    const { apiKey } = await platform.account();
    await platform.chat(apiKey, ask('other-way', { enable_x_search: true }));
    expect(bodies.at(-1)).toMatchObject({ plugins: [{ id: 'web' }] });
    expect(bodies.at(-1)).not.toHaveProperty('search_parameters');
  });

  it("keeps the caller's own search_parameters, except those that enable it and return its citations", async () => {
    const { id, apiKey } = await platform.account();
    const own = {
      mode: 'off',
      return_citations: false,
      max_search_results: 3,
      from_date: '2026-01-01',
      sources: [{ type: 'web', allowed_websites: ['news.example'] }],
    };
    const body = ask('native', { enable_x_search: true }, { search_parameters: own });
    expect((await platform.chat(apiKey, body)).status).toBe(200);
    const expected = { ...own, mode: 'on', return_citations: true };
    expect(bodies.at(-1)?.['search_parameters']).toEqual(expected);
    expect(await spentNano(id)).toBeGreaterThan(10_000_000);
    for (const odd of ['on', null, [1]]) {
      await platform.chat(apiKey, ask('native', { enable_x_search: true }, { search_parameters: odd }));
      expect(bodies.at(-1)?.['search_parameters']).toMatchObject({ mode: 'on', return_citations: true });
    }
  });

  it('is not available without paying for it', async () => {
    const { id, apiKey } = await platform.account();
    const response = await platform.chat(apiKey, ask('native', {}, { search_parameters: { mode: 'on' } }));
    const answer = (await response.json()) as Answered;
    expect(bodies.at(-1)).not.toHaveProperty('search_parameters');
    expect(answer.svc_parameters.web_search_citations).toEqual([]);
    expect(await spentNano(id)).toBeLessThan(10_000_000);
  });

  it('is rejected for a model without it, with the name of the field', async () => {
    const { apiKey } = await platform.account();
    const response = await platform.chat(apiKey, ask('test-model', { enable_x_search: true }));
    expect(response.status).toBe(400);
    const { code, issues, error } = await errorOf(response);
    expect(code).toBe('INVALID_REQUEST');
    expect(error.message).toContain('enable_x_search');
    expect(issues).toMatchObject([{ path: ['svc_parameters', 'enable_x_search'] }]);
  });
});

describe('the tool x_search of POST /responses', () => {
  const tool = {
    type: 'x_search',
    allowed_x_handles: ['@someone', 'other'],
    from_date: '2026-01-01',
    to_date: '2026-02-01',
  };

  async function respond(model: string, tools: object[]): Promise<Response> {
    const { apiKey } = await platform.account();
    return fetch(`${platform.apiUrl}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'What do they say?', tools }),
    });
  }

  it("is xAI's search of posts, with its restrictions, charged as one search", async () => {
    const response = await respond('native', [
      tool,
      { type: 'web_search', user_location: { country: 'AT' } },
    ]);
    expect(response.status).toBe(200);
    expect(bodies.at(-1)?.['search_parameters']).toEqual({
      mode: 'on',
      return_citations: true,
      sources: [
        { type: 'web', country: 'AT' },
        { type: 'x', included_x_handles: ['someone', 'other'] },
      ],
      from_date: '2026-01-01',
      to_date: '2026-02-01',
    });
    expect(bodies.at(-1)).not.toHaveProperty('tools');
    const { cost } = (await response.json()) as Answered;
    expect(Math.round(cost.usd * 1e9)).toBeGreaterThan(10_000_000);
  });

  it('is the search of other providers, if it is not restricted', async () => {
    expect((await respond('other-way', [{ type: 'x_search' }])).status).toBe(200);
    expect(bodies.at(-1)).toMatchObject({ plugins: [{ id: 'web' }] });
  });

  it.each<[string, string, object]>([
    [
      'a restriction that the provider does not have',
      'tools.0.allowed_x_handles',
      { ...tool, model: 'other-way' },
    ],
    ['a model without it', 'tools.0.type', { type: 'x_search', model: 'test-model' }],
    [
      'the sight of images',
      'tools.0.enable_image_understanding',
      { ...tool, enable_image_understanding: true },
    ],
    ['both kinds of handles', 'tools.0.excluded_x_handles', { ...tool, excluded_x_handles: ['z'] }],
    ['a word in place of a date', 'tools.0.from_date', { ...tool, from_date: 'yesterday' }],
  ])(
    'is refused with the name of the field for %s',
    async (_, param, { model = 'native', ...given }: { model?: string }) => {
      const response = await respond(model, [given]);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).error.param).toBe(param);
    },
  );
});
