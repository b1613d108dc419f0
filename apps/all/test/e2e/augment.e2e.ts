import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { evmWallet, signedInAt, solanaWallet } from '../wallets.js';

const RESULTS = [
  { title: 'T', url: 'https://a.example/', content: 'c', publishedDate: '2025-04-16T16:55:11' },
  { title: 'U', url: 'https://b.example/', content: 'd' },
];

let web: TestServer;
let platform: Platform;
let gone = 0;
const searches: string[] = [];

beforeAll(async () => {
  web = await TestServer.start((request, response) => {
    const url = request.url ?? '';
    searches.push(url);
    response.once('close', () => {
      if (!response.writableFinished) gone += 1;
    });
    if (url.includes('hang')) return;
    if (url.includes('fail')) response.writeHead(500).end();
    else if (url.startsWith('/dear/'))
      response.end(JSON.stringify({ results: url.includes('dear-ones') ? RESULTS : [] }));
    else if (url.startsWith('/search?')) {
      response.end(JSON.stringify({ results: url.includes('nothing') ? [] : RESULTS }));
    } else if (url === '/page')
      response
        .setHeader('content-type', 'text/html')
        .end('<h1>Heading</h1><p>It says so, in a sentence.</p>');
    else response.writeHead(404).end();
  });
  const hosts = new URL(web.url).host;
  platform = await Platform.start({
    web: {
      extras: { webPage: 0.02, webSearch: 0.01, textParser: 0.03 },
      search: {
        providers: [
          { kind: 'searxng', url: `${web.url}/dear`, name: 'dear', price: 0.05 },
          { kind: 'searxng', url: web.url },
        ],
        cacheSeconds: 0,
      },
    },
    env: {
      GATEWAY_PRIVATE_HOSTS: hosts,
      RETRIEVAL_PRIVATE_HOSTS: hosts,
      RETRIEVAL_HOST_PAUSE_MS: '0',
      GATEWAY_AUGMENT_PER_MINUTE: '10',
    },
  });
});
afterAll(async () => {
  await platform.stop();
  await web.close();
});

interface Asking {
  readonly path: 'search' | 'scrape';
  readonly signal?: AbortSignal;
}

function post(apiKey: string, body: object, { path, signal }: Asking): Promise<Response> {
  return fetch(`${platform.apiUrl}/augment/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function usdOf(id: string): Promise<string> {
  return (await platform.balances(id)).usd;
}

describe('POST /augment/search', () => {
  it('returns the results, and charges the search', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await post(apiKey, { query: 'towers', limit: 1 }, { path: 'search' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      query: 'towers',
      results: [{ title: 'T', url: 'https://a.example/', content: 'c', date: '2025-04-16 16:55:11' }],
    });
    await eventually('it is charged', async () => (await usdOf(id)) === '0.99');
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([
    ['nothing', 200],
    ['fail', 503],
  ])('charges nothing if it finds nothing or fails: %s', async (query, status) => {
    const { id, apiKey } = await platform.account('1.00');
    expect((await post(apiKey, { query }, { path: 'search' })).status).toBe(status);
    expect(await usdOf(id)).toBe('1.00');
  });

  it('calls no provider for an account that cannot pay', async () => {
    const { apiKey } = await platform.account('0.049');
    searches.length = 0;
    expect((await errorOf(await post(apiKey, { query: 'x' }, { path: 'search' }))).code).toBe(
      'INSUFFICIENT_BALANCE',
    );
    expect(searches).toEqual([]);
  });

  it('cancels the search and charges nothing when the client disconnects', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const [before, abort] = [gone, new AbortController()];
    searches.length = 0;
    const answer = post(apiKey, { query: 'hang' }, { path: 'search', signal: abort.signal });
    await eventually('the engine is asked', () => searches.length > 0);
    abort.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await eventually('the engine is let go', () => gone > before);
    expect(await usdOf(id)).toBe('1.00');
  });

  it.each([{}, { query: '' }, { query: 'x'.repeat(401) }, { query: 'x', limit: 21 }])(
    'rejects %j',
    async (body) => {
      const { apiKey } = await platform.account();
      expect((await post(apiKey, body, { path: 'search' })).status).toBe(400);
    },
  );
});

describe('a provider with a price of its own', () => {
  it('charges its own price if it provides the results', async () => {
    const { id, apiKey } = await platform.account('1.00');
    expect((await post(apiKey, { query: 'dear-ones' }, { path: 'search' })).status).toBe(200);
    await eventually('it is charged', async () => (await usdOf(id)) === '0.95');
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});

describe('the limit per minute', () => {
  it('is separate for each kind, and set by the operator', async () => {
    const { apiKey } = await platform.account('1.00');
    const ask = (path: Asking['path'], body: object): Promise<number> =>
      post(apiKey, body, { path }).then(({ status }) => status);
    const statuses = await Promise.all(Array.from({ length: 12 }, () => ask('search', { query: 'x' })));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect(await ask('scrape', { url: `${web.url}/page` })).toBe(200);
  });

  it('has headers for requests only, names the route, and is logged under its endpoint', async () => {
    const { apiKey } = await platform.account('1.00');
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => post(apiKey, { query: 'x' }, { path: 'search' })),
    );
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('x-ratelimit-limit-requests')).toBe('10');
    expect(refused?.headers.get('x-ratelimit-limit-tokens')).toBeNull();
    expect((await errorOf(refused as Response)).error.message).toMatch(
      /^Rate limit exceeded: 10 requests per minute for your account, for \/api\/v1\/augment\/search\. /,
    );
    await eventually('it is logged', async () => {
      const log = await fetch(`${platform.apiUrl}/api_keys/rate_limits/log`, {
        headers: { authorization: `Bearer ${apiKey}` },
      });
      const { data } = (await log.json()) as { data: object[] };
      return data.some(
        (entry) =>
          'modelId' in entry &&
          entry.modelId === 'endpoint:api/v1/augment/search' &&
          'rateLimitType' in entry &&
          entry.rateLimitType === 'RPM',
      );
    });
  });
});

describe('a file', () => {
  const parse = (apiKey: string, form: Record<string, string | File>): Promise<Response> => {
    const body = new FormData();
    for (const [name, value] of Object.entries(form)) body.append(name, value);
    return fetch(`${platform.apiUrl}/augment/text-parser`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body,
    });
  };
  const file = new File(['name,height\ntower,330\n'], 'towers.csv', { type: 'text/csv' });

  it('is returned as text, with or without its token count, and charged', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const read = (await (await parse(apiKey, { file })).json()) as { text: string; tokens: number };
    expect(read.text).toBe('name,height\ntower,330\n');
    expect(read.tokens).toBe(Math.ceil(read.text.length / 3.2));
    const alone = await parse(apiKey, { response_format: 'text', file });
    expect(alone.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await alone.text()).toBe(read.text);
    await eventually('both are charged', async () => (await usdOf(id)) === '0.94');
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it.each([
    [new File(['GIF89a'], 'x.gif', { type: 'image/gif' }), 'Unsupported file type'],
    [new File(['  '], 'x.txt'), 'No text content could be extracted from the file.'],
    [new File(['no pdf'], 'x.pdf'), 'The file could not be read: it is not a valid PDF file.'],
    [
      new File([Buffer.alloc(25_000_001, 'x')], 'x.txt'),
      'The file could not be read: the file is over 25 MB.',
    ],
    ['a text', 'must be a file'],
  ])('that cannot be read is rejected by field name, and not charged: %#', async (file, message) => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await parse(apiKey, { file });
    expect(response.status).toBe(400);
    const body = (await response.json()) as { issues: { path: string[]; message: string }[] };
    expect(body.issues).toMatchObject([{ path: ['file'], message }]);
    expect(await usdOf(id)).toBe('1.00');
  });

  it('can be sent as a form', async () => {
    const { apiKey } = await platform.account('1.00');
    const refused = await fetch(`${platform.apiUrl}/augment/text-parser`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect((await errorOf(refused)).code).toBe('INVALID_CONTENT_TYPE');
    expect((await parse(apiKey, { file, response_format: 'xml' })).status).toBe(400);
  });
});

describe('a wallet', () => {
  const asWallet = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${platform.apiUrl}/augment/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"query":"towers"}',
    });

  it('gets the payment terms if it sends no credentials', async () => {
    const response = await asWallet({});
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      x402Version: 2,
      resource: { url: `${platform.apiUrl}/augment/search`, description: 'Searches the web' },
      authOptions: { x402Wallet: { header: 'SIGN-IN-WITH-X' } },
    });
  });

  it.each([
    ['Base', evmWallet],
    ['Solana', solanaWallet],
  ])('on %s without enough credit is asked to top up, and can pay after that', async (_, make) => {
    const wallet = make();
    searches.length = 0;
    const short = await asWallet(await signedInAt(platform.rootUrl, wallet));
    expect(short.status).toBe(402);
    expect(await short.json()).toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'insufficient_balance' });
    expect(searches).toEqual([]);
    const { body } = await platform.operator('POST', '/accounts', { name: 'w', wallet: wallet.address });
    const id = String(body['id']);
    const credit = (usd: string): Promise<unknown> =>
      platform.operator('POST', `/accounts/${id}/credits`, { usd, reference: usd });
    await credit('0.09');
    // Below the minimum for wallets, which the response mentions.
    expect((await asWallet(await signedInAt(platform.rootUrl, wallet))).status).toBe(402);
    expect(searches).toEqual([]);
    await credit('0.91');
    const paid = await asWallet(await signedInAt(platform.rootUrl, wallet));
    expect(paid.status).toBe(200);
    await eventually('it is charged', async () => (await usdOf(id)) === '0.99');
  });
});

describe('POST /augment/scrape', () => {
  it('returns a page as Markdown, and charges it', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const response = await post(apiKey, { url: `${web.url}/page` }, { path: 'scrape' });
    expect(await response.json()).toEqual({
      url: `${web.url}/page`,
      content: '# Heading\n\nIt says so, in a sentence.',
      format: 'markdown',
    });
    await eventually('it is charged', async () => (await usdOf(id)) === '0.98');
  });

  it('refuses an unreadable page, naming the field, and charges nothing', async () => {
    const { id, apiKey } = await platform.account('1.00');
    const urls = [
      `${web.url}/none`,
      'http://169.254.169.254/',
      'http://u:p@a.example/',
      'ftp://a.example/',
      'x',
    ];
    for (const url of urls) {
      const answer = await errorOf(await post(apiKey, { url }, { path: 'scrape' }));
      expect(answer).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: ['url'] }] });
    }
    expect(await usdOf(id)).toBe('1.00');
  });

  it.each([
    ['https://x.com/some/status/1', 'x.com'],
    ['https://mobile.twitter.com/some', 'twitter.com'],
    ['https://old.reddit.com/r/towers', 'reddit.com'],
  ])('refuses a page of a blocked host, and charges nothing: %s', async (url, name) => {
    const { id, apiKey } = await platform.account('1.00');
    const answer = await errorOf(await post(apiKey, { url }, { path: 'scrape' }));
    const message = `The page could not be read: pages of ${name} are not read.`;
    expect(answer).toMatchObject({ code: 'INVALID_REQUEST', issues: [{ path: ['url'], message }] });
    expect(await usdOf(id)).toBe('1.00');
  });
});
