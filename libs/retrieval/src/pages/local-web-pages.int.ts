import type { RequestListener } from 'node:http';
import { PageUnread, WebPageReply, decodePage, encodePage } from '@svc/contracts/ports';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { TestNetwork } from '@svc/guarded-fetch/testing';
import { TestServer } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hasChromium, startChromium } from '../../test/chromium.js';
import { pdfFile } from '../../test/sample-files.js';
import { PageBrowser } from '../browser/page-browser.js';
import { LocalRetrieval } from '../local-retrieval.js';
import { retrievalConfig } from '../retrieval.config.js';
import { LocalWebPages } from './local-web-pages.js';

/** Longer than any machine needs. */
const WAIT = { timeout: 20_000 };

const config = z.object(retrievalConfig).parse({ RETRIEVAL_HOST_PAUSE_MS: 0 });
const HTML =
  '<html><head><title>T</title></head><body><article><p>It says so, at some length.</p></article></body></html>';

let files: LocalRetrieval;
beforeAll(() => {
  files = new LocalRetrieval(config);
});
afterAll(() => files.close());

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Web {
  readonly pages: LocalWebPages;
  readonly requested: string[];
  /** The number of connections that the reader closed. */
  readonly left: () => number;
}

/** An internet of one server with any host name; records the requests. */
async function web(
  reply: RequestListener,
  settings: Partial<typeof config> = {},
  browserUrl?: string,
): Promise<Web> {
  const requested: string[] = [];
  let left = 0;
  const server = await TestServer.start((request, response) => {
    requested.push(`${request.headers.host}${request.url}`);
    response.once('close', () => {
      if (!response.writableFinished) left += 1;
    });
    reply(request, response);
  });
  closing.push(() => server.close());
  const names = {
    'a.example': [['93.184.216.1']],
    'b.example': [['93.184.216.2']],
    'in.example': [['10.0.0.1']],
  };
  const network = new TestNetwork({ names, elsewhere: Number(new URL(server.url).port) });
  const fetcher = new GuardedFetcher({}, network);
  const bounds = { totalBytes: 8_000_000, timeoutMs: 10_000 };
  const browser =
    browserUrl === undefined
      ? undefined
      : new PageBrowser(fetcher, { url: browserUrl, scriptsMs: 10_000, bounds });
  const pages = new LocalWebPages({ ...config, ...settings }, { fetcher, files, reader: files, browser });
  return { pages, requested, left: () => left };
}

const html: RequestListener = ({ url }, response) => {
  if (url === '/robots.txt') response.writeHead(404).end();
  else response.setHeader('content-type', 'text/html').end(HTML);
};
const robots =
  (status: number, text = ''): RequestListener =>
  (request, response) =>
    request.url === '/robots.txt' ? void response.writeHead(status).end(text) : html(request, response);

const reasonOf = async (reading: Promise<unknown>): Promise<string> => {
  const failure: unknown = await reading.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PageUnread);
  return (failure as PageUnread).reason;
};
const page = (url: string) => ({ accountId: 'a', url });

describe('reading a page', () => {
  it('requests the robots.txt of a host once, and then the page', async () => {
    const { pages, requested } = await web(html);
    const read = await pages.read(page('http://a.example/x?y=1'));
    expect(read).toEqual({ url: 'http://a.example/x?y=1', title: 'T', text: 'It says so, at some length.' });
    await pages.read(page('http://a.example/z'));
    expect(requested).toEqual(['a.example/robots.txt', 'a.example/x?y=1', 'a.example/z']);
  });

  it('also reads PDFs and plain text', async () => {
    const { pages } = await web(({ url }, response) => {
      if (url === '/robots.txt') response.writeHead(404).end();
      else if (url === '/a.pdf')
        response.setHeader('content-type', 'application/pdf').end(pdfFile(['Hello']));
      else response.setHeader('content-type', 'text/plain').end('just words');
    });
    expect(await pages.read(page('http://a.example/a.pdf'))).toMatchObject({
      title: 'a.pdf',
      text: expect.stringContaining('Hello') as string,
    });
    expect(await pages.read(page('http://a.example/'))).toMatchObject({ text: 'just words' });
  });

  it.each([
    ['a path that it asks to leave alone', robots(200, 'User-agent: *\nDisallow: /x'), false],
    ['another path', robots(200, 'User-agent: *\nDisallow: /y'), true],
    ['a host without one', robots(404), true],
    ['a host that may not be asked', robots(403), true],
    ['a host whose own is broken', robots(503), false],
  ])('respects a robots.txt: %s', async (_, reply, isRead) => {
    const { pages, requested } = await web(reply);
    const outcome = await pages.read(page('http://a.example/x')).catch((error: unknown) => error);
    expect(outcome instanceof PageUnread).toBe(!isRead);
    expect(requested.includes('a.example/x')).toBe(isRead);
    const rude = await web(reply, { RETRIEVAL_ROBOTS: 'ignore' });
    expect(await rude.pages.read(page('http://a.example/x'))).toMatchObject({ title: 'T' });
    expect(rude.requested).toEqual(['a.example/x']);
  });

  it('respects the robots.txt of the host of a redirect', async () => {
    const { pages } = await web(({ url, headers }, response) => {
      if (url === '/robots.txt')
        response.end(headers.host === 'b.example' ? 'User-agent: *\nDisallow: /' : '');
      else if (headers.host === 'a.example') response.writeHead(302, { location: 'http://b.example/' }).end();
      else response.setHeader('content-type', 'text/html').end(HTML);
    });
    expect(await reasonOf(pages.read(page('http://a.example/')))).toBe('its robots.txt asks not to');
  });

  it.each([
    ['http://a.example/x', 'a.example'],
    ['http://deep.a.example/', 'a.example'],
    ['http://A.Example.:8080/', 'a.example'],
  ])('does not read blocked hosts: %s', async (url, name) => {
    const blocking = { RETRIEVAL_BLOCKED_HOSTS: 'c.example,a.example', RETRIEVAL_ROBOTS: 'ignore' as const };
    const { pages, requested } = await web(html, blocking);
    expect(await reasonOf(pages.read(page(url)))).toBe(`pages of ${name} are not read`);
    expect(requested).toEqual([]);
    expect(await pages.read(page('http://b.example/'))).toMatchObject({ title: 'T' });
  });

  it('rejects a redirect to a blocked host, and does not block a host whose name merely contains a blocked one', async () => {
    const { pages } = await web(
      ({ headers }, response) => {
        if (headers.host === 'a.example') response.writeHead(302, { location: 'http://b.example/' }).end();
        else response.setHeader('content-type', 'text/html').end(HTML);
      },
      { RETRIEVAL_BLOCKED_HOSTS: 'xample,b.example', RETRIEVAL_ROBOTS: 'ignore' },
    );
    expect(await reasonOf(pages.read(page('http://a.example/')))).toBe('pages of b.example are not read');
  });

  it.each([
    'http://in.example/',
    'http://127.0.0.1/',
    'http://169.254.169.254/latest',
    'ftp://a.example/',
    'http://u:p@a.example/',
    'x',
  ])('never reaches an address that is not public: %s', async (url) => {
    const { pages, requested } = await web(html);
    await reasonOf(pages.read(page(url)));
    expect(requested).toEqual([]);
  });

  it.each([
    ['is not there', ({ url }, response) => void response.writeHead(url === '/robots.txt' ? 404 : 500).end()],
    [
      'breaks off',
      (request, response) => {
        if (request.url === '/robots.txt') return html(request, response);
        response.writeHead(200, { 'content-length': '1000', 'content-type': 'text/html' });
        response.write('<p>');
        setImmediate(() => response.socket?.destroy());
      },
    ],
    [
      'is too large',
      (request, response) => {
        if (request.url === '/robots.txt') return html(request, response);
        response.setHeader('content-type', 'text/html').end('x'.repeat(100_000));
      },
    ],
    [
      'says nothing without scripts',
      (request, response) => {
        if (request.url === '/robots.txt') return html(request, response);
        response.setHeader('content-type', 'text/html').end('<div id=root></div><script>app()</script>');
      },
    ],
    [
      'hangs',
      (request, response) => {
        if (request.url === '/robots.txt') html(request, response);
      },
    ],
  ] satisfies [string, RequestListener][])('fails in plain words where a page %s', async (_, reply) => {
    const { pages } = await web(reply, {
      RETRIEVAL_PAGE_LIMIT_BYTES: 50_000,
      RETRIEVAL_PAGE_TIMEOUT_MS: 2_000,
    });
    expect(await reasonOf(pages.read(page('http://a.example/x')))).toMatch(/^[a-z][^.]+[^.]$/);
  });

  it('ends at once when the caller aborts', async () => {
    const { pages, requested, left } = await web((request, response) => {
      if (request.url === '/robots.txt') html(request, response);
    });
    const leaving = new AbortController();
    const reading = pages.read(page('http://a.example/x'), leaving.signal);
    await expect.poll(() => requested.length, WAIT).toBe(2);
    leaving.abort(new Error('left'));
    await expect(reading).rejects.toThrow('left');
    await expect.poll(left, WAIT).toBe(1);
  });

  it('spaces out requests to one host, and does not delay others', async () => {
    const times = new Map<string, number[]>();
    const { pages } = await web(
      (request, response) => {
        const { host = '' } = request.headers;
        if (request.url !== '/robots.txt') times.set(host, [...(times.get(host) ?? []), performance.now()]);
        html(request, response);
      },
      { RETRIEVAL_HOST_PAUSE_MS: 200 },
    );
    const urls = ['http://a.example/1', 'http://a.example/2', 'http://a.example/3', 'http://b.example/1'];
    await Promise.all(urls.map((url) => pages.read(page(url))));
    const [first = 0, , third = 0] = times.get('a.example')?.toSorted((a, b) => a - b) ?? [];
    expect(third - first).toBeGreaterThan(300);
    expect(times.get('b.example')).toHaveLength(1);
  });

  it('preserves pages and failures in JSON', async () => {
    const through = async (reading: Parameters<typeof encodePage>[0]) =>
      decodePage(WebPageReply.parse(JSON.parse(JSON.stringify(await encodePage(reading)))));
    const read = { url: 'u', title: 't', text: 'x', publishedAt: '2025-04-16T16:55:11.000Z' };
    expect(await through(Promise.resolve(read))).toEqual(read);
    await expect(through(Promise.reject(new PageUnread('why')))).rejects.toMatchObject({ reason: 'why' });
  });
});

describe('a page whose text is created by its scripts', () => {
  const SAYS = 'The tower is 330 metres tall, and stands by the river.';
  const app: RequestListener = (request, response) => {
    if (request.url === '/app.js')
      response
        .setHeader('content-type', 'text/javascript')
        .end(`document.getElementById('root').innerHTML = '<main><p>${SAYS}</p></main>';`);
    else if (request.url === '/page')
      response
        .setHeader('content-type', 'text/html')
        .end('<title>T</title><div id="root">Loading…</div><script src="/app.js"></script>');
    else html(request, response);
  };

  it('is not read without a browser, and reports an unavailable browser', async () => {
    const without = await web(app);
    expect(await reasonOf(without.pages.read(page('http://a.example/page')))).toBe(
      'the page holds no text without its scripts',
    );
    const away = await web(app, {}, 'http://127.0.0.1:9');
    expect(await reasonOf(away.pages.read(page('http://a.example/page')))).toBe(
      'the page needs its scripts, and they could not be run',
    );
  });

  it.runIf(hasChromium)('is rendered by a browser, to which no other page is sent', WAIT, async () => {
    const browser = await startChromium();
    closing.push(() => browser.close());
    const { pages, requested } = await web(app, { RETRIEVAL_ROBOTS: 'ignore' }, browser.url);
    expect(await pages.read(page('http://a.example/page'))).toMatchObject({ title: 'T', text: SAYS });
    expect(requested).toEqual(['a.example/page', 'a.example/app.js']);
    await pages.read(page('http://a.example/other'));
    expect(requested).toEqual(['a.example/page', 'a.example/app.js', 'a.example/other']);
  });
});
