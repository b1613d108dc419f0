import { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { SearchFailed } from '@svc/contracts/ports';
import { createLogger } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { catalogWith } from '../../test/catalog-with.js';
import { LocalWebSearch } from './local-web-search.js';

/** A provider's documented behaviour: the request, the response, and its errors. */
interface Replay {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly expected: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: unknown;
  readonly found: readonly object[];
  /** The response when nothing was found. */
  readonly nothing: unknown;
  readonly refusals: readonly (readonly [status: number, body: unknown])[];
}

const REPLAYS: readonly Replay[] = [
  {
    entry: { kind: 'brave', region: 'AT', language: 'de' },
    expected: {
      method: 'GET',
      url: '/res/v1/web/search?q=How+tall%3F&count=7&text_decorations=false&result_filter=web&country=AT&search_lang=de',
      headers: { 'x-subscription-token': 'the-key', accept: 'application/json' },
    },
    response: {
      type: 'search',
      query: { original: 'How tall?', more_results_available: true },
      web: {
        type: 'search',
        results: [
          {
            title: 'Towers &amp; heights',
            url: 'https://a.example/',
            is_source_local: false,
            description: 'It is 330 metres.',
            page_age: '2025-04-16T16:55:11',
            age: 'April 16, 2025',
            extra_snippets: ['Built in 1889.'],
            meta_url: { hostname: 'a.example' },
          },
          { title: 'B', url: 'https://b.example/', description: 'Second.' },
        ],
        family_friendly: true,
      },
    },
    found: [
      {
        title: 'Towers & heights',
        url: 'https://a.example/',
        content: 'It is 330 metres. Built in 1889.',
        publishedAt: '2025-04-16T16:55:11.000Z',
      },
      { title: 'B', url: 'https://b.example/', content: 'Second.' },
    ],
    nothing: { type: 'search', query: { original: 'How tall?' } },
    refusals: [
      [422, { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID', status: 422 } }],
      [422, { type: 'ErrorResponse', error: { status: 422, code: 'VALIDATION', meta: {} }, time: 1 }],
      [
        429,
        {
          type: 'ErrorResponse',
          error: { status: 429, code: 'RATE_LIMITED', meta: { plan: 'Free', rate_limit: 1 } },
        },
      ],
    ],
  },
  {
    entry: { kind: 'tavily', region: 'AT' },
    expected: {
      method: 'POST',
      url: '/search',
      headers: { authorization: 'Bearer the-key', 'content-type': 'application/json' },
      body: { query: 'How tall?', max_results: 7, search_depth: 'basic', country: 'austria' },
    },
    response: {
      query: 'How tall?',
      answer: null,
      images: [],
      results: [
        {
          title: 'Towers',
          url: 'https://a.example/',
          content: 'It is 330 metres.',
          score: 0.9,
          raw_content: null,
          published_date: 'Wed, 16 Apr 2025 16:55:11 GMT',
        },
      ],
      response_time: 1.1,
      request_id: 'r',
    },
    found: [
      {
        title: 'Towers',
        url: 'https://a.example/',
        content: 'It is 330 metres.',
        publishedAt: '2025-04-16T16:55:11.000Z',
      },
    ],
    nothing: { query: 'How tall?', results: [] },
    refusals: [
      [401, { detail: { error: 'Unauthorized: missing or invalid API key.' } }],
      [429, { detail: { error: 'Your request has been blocked due to excessive requests.' } }],
      [432, { detail: { error: 'This request exceeds your plan’s set usage limit.' } }],
      [433, { detail: { error: 'This request exceeds the pay-as-you-go limit.' } }],
      [500, { detail: { error: 'Internal Server Error' } }],
    ],
  },
  {
    entry: { kind: 'exa', region: 'AT' },
    expected: {
      method: 'POST',
      url: '/search',
      headers: { 'x-api-key': 'the-key', 'content-type': 'application/json' },
      body: {
        query: 'How tall?',
        numResults: 7,
        type: 'auto',
        contents: { highlights: true },
        userLocation: 'AT',
      },
    },
    response: {
      requestId: 'r',
      resolvedSearchType: 'neural',
      results: [
        {
          id: 'https://a.example/',
          title: 'Towers',
          url: 'https://a.example/',
          publishedDate: '2025-04-16T16:55:11.000Z',
          author: null,
          highlights: ['It is 330 metres.', 'Built in 1889.'],
          highlightScores: [0.5, 0.4],
        },
        { id: 'b', title: null, url: 'https://b.example/', publishedDate: null, text: 'Plain.' },
      ],
      costDollars: { total: 0.005 },
    },
    found: [
      {
        title: 'Towers',
        url: 'https://a.example/',
        content: 'It is 330 metres. … Built in 1889.',
        publishedAt: '2025-04-16T16:55:11.000Z',
      },
      { title: 'b.example', url: 'https://b.example/', content: 'Plain.' },
    ],
    nothing: { requestId: 'r', results: [] },
    refusals: [
      [400, { requestId: 'r', error: 'Bad', tag: 'INVALID_REQUEST_BODY' }],
      [401, { requestId: 'r', error: 'Invalid API key', tag: 'INVALID_API_KEY' }],
      [403, { requestId: 'r', error: 'Not on this plan', tag: 'ACCESS_DENIED' }],
      [402, { requestId: 'r', error: 'No credits', tag: 'NO_MORE_CREDITS' }],
      [429, { error: 'You have exceeded your Exa rate limit.' }],
    ],
  },
  {
    entry: { kind: 'google', engineId: 'an-engine', region: 'AT', language: 'de' },
    expected: {
      method: 'GET',
      url: '/customsearch/v1?cx=an-engine&q=How+tall%3F&num=7&gl=at&lr=lang_de',
      headers: { 'x-goog-api-key': 'the-key' },
    },
    response: {
      kind: 'customsearch#search',
      searchInformation: { totalResults: '2' },
      items: [
        {
          kind: 'customsearch#result',
          title: 'Towers',
          htmlTitle: '<b>Towers</b>',
          link: 'https://a.example/',
          displayLink: 'a.example',
          snippet: 'It is 330 metres.',
          pagemap: { metatags: [{ 'article:published_time': '2025-04-16T16:55:11+00:00' }] },
        },
        { title: 'B', link: 'https://b.example/', snippet: 'Second.\n', pagemap: { metatags: [] } },
      ],
    },
    found: [
      {
        title: 'Towers',
        url: 'https://a.example/',
        content: 'It is 330 metres.',
        publishedAt: '2025-04-16T16:55:11.000Z',
      },
      { title: 'B', url: 'https://b.example/', content: 'Second.' },
    ],
    nothing: { kind: 'customsearch#search', searchInformation: { totalResults: '0' } },
    refusals: [
      [400, { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }],
      [403, { error: { code: 403, message: 'Not configured.', status: 'PERMISSION_DENIED' } }],
      [
        403,
        {
          error: {
            code: 403,
            message: 'Daily Limit Exceeded',
            errors: [{ domain: 'usageLimits', reason: 'dailyLimitExceeded' }],
          },
        },
      ],
      [429, { error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' } }],
    ],
  },
];

type Mode = 'responds' | 'finds nothing' | 'hangs' | 'breaks off' | 'sends half' | readonly [number, unknown];

interface ReceivedRequest {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** Searches with one provider in this mode, and records its requests. */
async function searched(replay: Replay, mode: Mode, key: string | undefined = 'the-key') {
  const received: ReceivedRequest[] = [];
  const server = await TestServer.start((request, response) => {
    void text(request).then((body) => {
      received.push({ request, body });
      const whole = JSON.stringify(replay.response);
      response.setHeader('content-type', 'application/json');
      if (mode === 'responds') response.end(whole);
      else if (mode === 'finds nothing') response.end(JSON.stringify(replay.nothing));
      else if (mode === 'sends half') response.end(whole.slice(0, whole.length / 2));
      else if (mode === 'breaks off') {
        response.setHeader('content-length', whole.length);
        response.write(whole.slice(0, whole.length / 2));
        setImmediate(() => response.socket?.destroy());
      } else if (mode !== 'hangs') response.writeHead(mode[0]).end(JSON.stringify(mode[1]));
    });
  });
  const provider = {
    ...replay.entry,
    url: server.url,
    apiKeyEnv: 'A_KEY',
    deadlineMs: mode === 'hangs' ? 1_500 : 20_000,
  };
  const logged: string[] = [];
  const log = createLogger('silent');
  log.warn = (...entry: unknown[]) => void logged.push(JSON.stringify(entry));
  const web = new LocalWebSearch({
    catalog: catalogWith({ providers: [provider] }),
    log,
    simulatorUrl: undefined,
    secret: (name) => (name === 'A_KEY' ? key : undefined),
  });
  const outcome: unknown = await web
    .search({ accountId: 'a', text: 'How tall?', count: 7 })
    .catch((error: unknown) => error);
  await web.close();
  await server.close();
  return { outcome, received, logged };
}

describe.each(REPLAYS)('a search with $entry.kind', (replay) => {
  const { kind } = replay.entry;

  it('sends the documented request, and parses the response', async () => {
    const { outcome, received } = await searched(replay, 'responds');
    expect(outcome).toEqual({ provider: kind, pages: replay.found });
    const [{ request, body } = { request: undefined, body: '' }] = received;
    expect({ method: request?.method, url: request?.url }).toEqual({
      method: replay.expected.method,
      url: replay.expected.url,
    });
    expect(request?.headers).toMatchObject(replay.expected.headers);
    expect(body === '' ? undefined : JSON.parse(body)).toEqual(replay.expected.body);
    expect(request?.url).not.toContain('the-key');
  });

  it('is empty if it finds nothing', async () => {
    expect((await searched(replay, 'finds nothing')).outcome).toEqual({ provider: kind, pages: [] });
  });

  it.each([...replay.refusals, [503, 'busy'] as const])(
    'fails on status %d, without repeating its words',
    async (...refusal) => {
      const { outcome, logged } = await searched(replay, refusal);
      expect(outcome).toBeInstanceOf(SearchFailed);
      expect(logged.join()).toContain(String(kind));
      expect(logged.join()).not.toMatch(/the-key|message|Quota exceeded|Unauthorized/);
    },
  );

  it.each(['hangs', 'breaks off', 'sends half'] as const)('fails in time if it %s', async (mode) => {
    expect((await searched(replay, mode)).outcome).toBeInstanceOf(SearchFailed);
  });

  it('is skipped without its key, and logs that', async () => {
    const { outcome, received, logged } = await searched(replay, 'responds', '');
    expect(outcome).toBeInstanceOf(SearchFailed);
    expect(received).toEqual([]);
    expect(logged.join()).toContain('has no API key or URL');
  });
});
