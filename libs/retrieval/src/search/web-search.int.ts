import { CatalogModule } from '@svc/catalog';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import {
  SearchFailed,
  type WebQuery,
  WebResultsReply,
  decodeResults,
  encodeResults,
} from '@svc/contracts/ports';
import { InternalClient, InternalToken, createLogger, serve } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogWith } from '../../test/catalog-with.js';
import { HttpWebSearch } from '../api/http-web-search.js';
import { RetrievalApiModule } from '../retrieval-api.module.js';
import { retrievalConfig } from '../retrieval.config.js';
import { callProvider } from './call-provider.js';
import { brave } from './brave.js';
import { LocalWebSearch } from './local-web-search.js';
import { ProviderFault } from './provider.js';

/** Longer than any machine needs. */
const WAIT = { timeout: 20_000 };

const log = createLogger('silent');
const query: WebQuery = { accountId: 'a', text: 'How tall?', count: 5 };

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

/** A provider at a free port, with its requests. */
class Provider {
  readonly requests: string[] = [];
  left = 0;
  private constructor(readonly server: TestServer) {}

  static async start(reply: Reply): Promise<Provider> {
    const server = await TestServer.start((request, response) => {
      provider.requests.push(request.url ?? '');
      response.once('close', () => {
        if (!response.writableFinished) provider.left += 1;
      });
      reply(response, request);
    });
    const provider = new Provider(server);
    return provider;
  }

  get url(): string {
    return this.server.url;
  }
}

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

const page = (url: string) => ({ title: 'T', url, content: 'It says so.' });
const resultPage = (url: string): Reply => json({ results: [page(url)] });
const hang: Reply = () => undefined;

const brave429 = (remaining: string, reset: string) => ({
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': reset,
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function provider(reply: Reply): Promise<Provider> {
  const made = await Provider.start(reply);
  closing.push(() => made.server.close());
  return made;
}

function searching(providers: readonly object[], rest: object = {}): LocalWebSearch {
  const search = { providers, cacheSeconds: 0, ...rest };
  const web = new LocalWebSearch({
    catalog: catalogWith(search),
    log,
    simulatorUrl: undefined,
    secret: () => undefined,
  });
  closing.push(() => web.close());
  return web;
}

const searxng = ({ url }: Provider, name: string, rest: object = {}) => ({
  kind: 'searxng',
  url,
  name,
  ...rest,
});

describe('a search', () => {
  it('requests JSON from SearXNG, with a language and a country', async () => {
    const engine = await provider(
      json({
        query: 'How tall?',
        number_of_results: 2,
        results: [
          {
            url: 'https://a.example/',
            title: 'A &amp; B',
            content: 'It <em>says</em> so.',
            engine: 'e',
            publishedDate: '2025-04-16T16:55:11',
            score: 2,
          },
          { url: 'https://b.example/', title: 'B', content: null, publishedDate: null },
        ],
        unresponsive_engines: [['e2', 'timeout']],
      }),
    );
    const web = searching([{ kind: 'searxng', url: `${engine.url}/searx/`, language: 'de', region: 'AT' }]);
    expect(await web.search(query)).toEqual({
      provider: 'searxng',
      pages: [
        {
          title: 'A & B',
          url: 'https://a.example/',
          content: 'It says so.',
          publishedAt: '2025-04-16T16:55:11.000Z',
        },
        { title: 'B', url: 'https://b.example/', content: '' },
      ],
    });
    expect(engine.requests).toEqual(['/searx/search?q=How+tall%3F&format=json&language=de-AT']);
  });

  const faults: readonly (readonly [string, Reply])[] = [
    ['answers 500', json({ error: 'x' }, 500)],
    ['answers 403', json({ error: 'x' }, 403)],
    ['answers 429', json({ error: 'x' }, 429)],
    ['hangs', hang],
    ['sends HTML', (response) => void response.end('<html>')],
    ['sends JSON of another kind', json(['x'])],
    ['sends results that are no list', json({ results: { a: 1 } })],
    [
      'breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"results":[');
        setImmediate(() => response.socket?.destroy());
      },
    ],
    ['sends without end', (response) => void response.write(`{"a":"${'x'.repeat(6_000_000)}`)],
    ['redirects', json({}, 302, { location: 'http://127.0.0.1:9/' })],
    ['finds nothing', json({ results: [] })],
  ];
  it.each(faults)('continues with the next provider if one %s', async (_, reply) => {
    const first = await provider(reply);
    const second = await provider(resultPage('https://b.example/'));
    const web = searching([searxng(first, 'first', { deadlineMs: 1_000 }), searxng(second, 'second')]);
    expect(await web.search(query)).toMatchObject({
      provider: 'second',
      pages: [{ url: 'https://b.example/' }],
    });
  });

  it('fails if none responds, without revealing hosts or keys', async () => {
    const first = await provider(json({}, 500));
    const web = searching([searxng(first, 'first'), { kind: 'searxng', url: 'http://127.0.0.1:9' }]);
    const failure: unknown = await web.search(query).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SearchFailed);
    expect((failure as SearchFailed).reason).toBe('no search provider responded');
  });

  it('is empty if all find nothing, or some find nothing and the others fail', async () => {
    const empty = await provider(json({ results: [] }));
    const broken = await provider(json({}, 500));
    const web = searching([searxng(empty, 'empty'), searxng(broken, 'broken')]);
    expect(await web.search(query)).toEqual({ provider: 'empty', pages: [] });
  });

  it('rests a provider that is over its quota, as long as another one responds', async () => {
    const tired = await provider(json({}, 429, { 'retry-after': '60' }));
    const other = await provider(resultPage('https://b.example/'));
    const web = searching([searxng(tired, 'tired'), searxng(other, 'other')]);
    for (let round = 0; round < 3; round += 1) await web.search(query);
    expect([tired.requests.length, other.requests.length]).toEqual([1, 3]);
    const alone = searching([searxng(tired, 'tired')]);
    for (let round = 0; round < 2; round += 1)
      await expect(alone.search(query)).rejects.toBeInstanceOf(SearchFailed);
    expect(tired.requests.length).toBe(3);
  });

  it.each([
    ['no word of it', {}, [29_999, 30_000]],
    ['seconds', { 'retry-after': '7' }, [6_999, 7_000]],
    ['a date', { 'retry-after': new Date(Date.now() + 600_000).toUTCString() }, [300_000, 600_000]],
    ['a date that has gone by', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, [29_999, 30_000]],
    ['what is no time', { 'retry-after': 'soon' }, [29_999, 30_000]],
    ['more than an hour', { 'retry-after': '90000' }, [3_599_999, 3_600_000]],
    ['windows, of which one is used up', brave429('0, 1000', '1, 1419704'), [999, 1_000]],
    ['windows that are used up', brave429('0, 0', '1, 1419704'), [3_599_999, 3_600_000]],
    ['windows of which none is', brave429('1, 5', '1, 60'), [29_999, 30_000]],
  ] as const)('rests as long as %s says', async (_, headers, [leastMs, mostMs]) => {
    const engine = await provider(json({}, 429, headers));
    const engineOf = brave({ name: 'b', deadlineMs: 20_000, key: 'k', url: engine.url });
    const agent = new Agent();
    closing.push(() => agent.close());
    const call = { query, deadlineMs: 20_000, signal: new AbortController().signal };
    const fault: unknown = await callProvider(agent, engineOf, call).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProviderFault);
    const { restMs } = fault as ProviderFault;
    // A date has whole seconds, and the request takes time; no other rest is near these limits.
    expect(restMs).toBeLessThanOrEqual(mostMs);
    expect(restMs).toBeGreaterThan(leastMs);
  });

  it("keeps Brave's limits, and uses Brave's language codes", () => {
    const queryOf = (terms: object, text = 'a'): URLSearchParams => {
      const { url } = brave({ name: 'b', deadlineMs: 1, key: 'k', ...terms }).request({ text, count: 50 });
      return new URL(url).searchParams;
    };
    expect(queryOf({}, 'w '.repeat(200).trim()).get('q')).toBe('w '.repeat(50).trim());
    expect(queryOf({}).get('count')).toBe('20');
    const languages = [
      [{ language: 'ja' }, 'jp'],
      [{ language: 'ja', region: 'JP' }, 'jp'],
      [{ language: 'pt', region: 'BR' }, 'pt-br'],
      [{ language: 'pt', region: 'AT' }, 'pt-pt'],
      [{ language: 'zh' }, 'zh-hans'],
      [{ language: 'zh', region: 'CN' }, 'zh-hans'],
      [{ language: 'zh', region: 'TW' }, 'zh-hant'],
      [{ language: 'zh', region: 'HK' }, 'zh-hant'],
      [{ language: 'en', region: 'GB' }, 'en-gb'],
      [{ language: 'en', region: 'US' }, 'en'],
      [{ language: 'no', region: 'NO' }, 'nb'],
      [{ language: 'de', region: 'BR' }, 'de'],
      // Brave rejects a search in an unsupported language.
      [{ language: 'sw' }, null],
      [{}, null],
    ] as const;
    for (const [terms, language] of languages)
      expect([terms, queryOf(terms).get('search_lang')]).toEqual([terms, language]);
    expect(queryOf({ region: 'AT' }).get('country')).toBe('AT');
    expect(queryOf({ region: 'LI' }).get('country')).toBeNull();
  });

  it('takes no longer than the deadline of all providers', async () => {
    const slow = [await provider(hang), await provider(hang), await provider(hang)];
    const web = searching(
      slow.map((each, index) => searxng(each, `slow-${index}`, { deadlineMs: 60_000 })),
      { deadlineMs: 300 },
    );
    await expect(web.search(query)).rejects.toBeInstanceOf(SearchFailed);
    expect(slow.map(({ requests }) => requests.length)).toEqual([1, 0, 0]);
  });

  it('ends at once when the caller aborts, without calling another provider', async () => {
    const [slow, next] = [await provider(hang), await provider(resultPage('https://b.example/'))];
    const web = searching([searxng(slow, 'slow'), searxng(next, 'next')]);
    const leaving = new AbortController();
    const search = web.search(query, leaving.signal);
    await expect.poll(() => slow.requests.length, WAIT).toBe(1);
    leaving.abort(new Error('left'));
    await expect(search).rejects.toThrow('left');
    await expect.poll(() => slow.left, WAIT).toBe(1);
    expect(next.requests).toEqual([]);
  });

  it('caches results for a while, up to the maximum', async () => {
    const engine = await provider(resultPage('https://a.example/'));
    const web = searching([searxng(engine, 'e')], { cacheSeconds: 60, cacheEntries: 2 });
    const ask = async (...texts: readonly string[]): Promise<number> => {
      for (const text of texts) await web.search({ ...query, text });
      return engine.requests.length;
    };
    expect(await ask('a', 'A', 'b', 'a')).toBe(2);
    expect(await ask('c', 'b')).toBe(4);
  });

  it('fails without a provider', async () => {
    const web = new LocalWebSearch({
      catalog: catalogWith(undefined),
      log,
      simulatorUrl: undefined,
      secret: () => undefined,
    });
    closing.push(() => web.close());
    await expect(web.search(query)).rejects.toBeInstanceOf(SearchFailed);
    const nowhere = searching([{ kind: 'simulator' }]);
    await expect(nowhere.search(query)).rejects.toBeInstanceOf(SearchFailed);
  });
});

describe('a search over a wire', () => {
  const token = 'internal-token-of-the-tests-of-search';

  async function over(search: object): Promise<HttpWebSearch> {
    const config = z.object(retrievalConfig).parse({});
    const imports = [
      GuardedFetchModule.with({}),
      CatalogModule.of(catalogWith(search)),
      RetrievalApiModule.with({ ...config, secret: () => undefined }, new InternalToken(token)),
    ];
    const api = { host: '127.0.0.1', port: 0 };
    const running = await serve({ module: { module: class Root {}, imports }, logger: log, api });
    closing.push(() => running.stop());
    const client = new InternalClient({ url: running.apiUrl, token });
    closing.push(() => client.close());
    return new HttpWebSearch(client, catalogWith(search));
  }

  it('gives the same results and the same failures', async () => {
    const engine = await provider((response, request) =>
      (request.url?.includes('fail') ? json({}, 500) : resultPage('https://a.example/'))(response, request),
    );
    const web = await over({ providers: [searxng(engine, 'e')] });
    const here = searching([searxng(engine, 'e')]);
    expect(await web.search(query)).toEqual(await here.search(query));
    const failure: unknown = await web.search({ ...query, text: 'fail' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'SearchFailed', reason: 'no search provider responded' });
  });

  it("closes the provider's connection when the caller aborts", async () => {
    const engine = await provider(hang);
    const web = await over({ providers: [searxng(engine, 'e')] });
    const leaving = new AbortController();
    const search = web.search(query, leaving.signal);
    await expect.poll(() => engine.requests.length, WAIT).toBe(1);
    leaving.abort(new Error('left'));
    await expect(search).rejects.toThrow('left');
    await expect.poll(() => engine.left, WAIT).toBe(1);
  });

  it('fails if the searching process is unreachable', async () => {
    const client = new InternalClient({ url: 'http://127.0.0.1:9', token });
    closing.push(() => client.close());
    const web = new HttpWebSearch(client, catalogWith({ providers: [{ kind: 'simulator' }] }));
    await expect(web.search(query)).rejects.toMatchObject({ name: 'SearchFailed' });
  });

  it('preserves dates and failures in JSON', async () => {
    const pages = [{ title: 't', url: 'u', content: 'c', publishedAt: '2025-04-16T16:55:11.000Z' }];
    const through = async (found: Promise<{ provider: string; pages: typeof pages }>) =>
      decodeResults(WebResultsReply.parse(JSON.parse(JSON.stringify(await encodeResults(found)))));
    expect(await through(Promise.resolve({ provider: 'p', pages }))).toEqual({ provider: 'p', pages });
    await expect(through(Promise.reject(new SearchFailed('why')))).rejects.toMatchObject({ reason: 'why' });
  });
});
