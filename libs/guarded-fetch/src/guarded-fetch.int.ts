import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FetchRefused } from './fetch-refused.js';
import { type FetchedFile, GuardedFetcher } from './guarded-fetch.js';
import { GuardedFetchModule } from './guarded-fetch.module.js';
import { TestNetwork, type TestNetworkOptions } from '../test/testing.js';

const options = { limitBytes: 1_000, timeoutMs: 20_000 };

const names: Record<string, readonly (readonly string[])[]> = {
  'example.com': [['93.184.216.34']],
  'www.example.com': [['93.184.216.34', '2606:4700::1111']],
  'six.example.com': [['2606:4700::1111']],
  'nat64.example.com': [['64:ff9b::5db8:d822']],
  'many.example.com': [Array.from({ length: 30 }, (_, index) => `93.184.216.${index + 1}`)],
  'a_b.example.com': [['93.184.216.34']],
  'localhost.example.com': [['93.184.216.34']],
  'internal.example.com': [['93.184.216.34']],
  '127.0.0.1.example.com': [['93.184.216.34']],
  'xn--bcher-kva.example': [['93.184.216.34']],
  'xn--r8jz45g.xn--zckzah': [['93.184.216.34']],
  'xn--strae-oqa.example.com': [['93.184.216.34']],
  'private.example.com': [['10.0.0.1']],
  'rebind.example.com': [['93.184.216.34'], ['127.0.0.1']],
};

let web: Server;
let requests: IncomingMessage[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

/** A fetcher on a network where every public address is the test's server. */
function fetcherOn(more: Partial<TestNetworkOptions> = {}): {
  fetcher: GuardedFetcher;
  network: TestNetwork;
} {
  const network = new TestNetwork({ names, elsewhere: (web.address() as AddressInfo).port, ...more });
  return { fetcher: new GuardedFetcher({}, network), network };
}

const outcome = (fetched: Promise<FetchedFile>): Promise<string> =>
  fetched.then(
    ({ bytes }) => bytes.toString(),
    (error: unknown) => (error instanceof FetchRefused ? error.reason : String(error)),
  );

/** Redirects each path of the table, and responds to all others with `done`. */
function redirecting(table: Record<string, string>, status = 302): void {
  answer = (request, response) => {
    const location = table[request.url ?? ''];
    if (location === undefined) response.end('done');
    else response.writeHead(status, { location }).end('moved');
  };
}

beforeEach(async () => {
  requests = [];
  answer = (_request, response) => response.end('hello');
  web = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
});

afterEach(() => {
  vi.unstubAllEnvs();
  web.closeAllConnections();
  web.close();
});

describe('ordinary URLs', () => {
  it.each([
    'http://example.com',
    'http://example.com/',
    'HTTP://EXAMPLE.COM/',
    ' http://example.com/ ',
    'http:example.com/',
    'http://example.com:80/',
    'http://example.com:8080/',
    'http://example.com:443/',
    'http://example.com:8443/',
    'http://example.com/a.png',
    'http://example.com/a.png?width=64&height=64',
    'http://example.com/a%20b.png',
    'http://example.com/a b.png',
    'http://example.com/ü/日本.png?q=ß',
    'http://example.com/a/../b/./c',
    'http://example.com//double//slash',
    'http://example.com/@user/photo',
    'http://example.com/?next=http://127.0.0.1/',
    'http://example.com/?email=a@b.example',
    'http://example.com/a\\b',
    'http://example.com/#fragment@127.0.0.1',
    `http://example.com/${'long/'.repeat(800)}`,
    `http://example.com/a?signature=${'0123456789abcdef'.repeat(250)}`,
    'http://www.example.com/',
    'http://six.example.com/',
    'http://nat64.example.com/',
    'http://many.example.com/',
    'http://a_b.example.com/',
    'http://localhost.example.com/',
    'http://internal.example.com/',
    'http://127.0.0.1.example.com/',
    'http://bücher.example/',
    'http://例え.テスト/',
    'http://straße.example.com/',
    'http://xn--bcher-kva.example/',
    'http://93.184.216.34/',
    'http://1.1.1.1/',
    'http://8.8.8.8:8080/a',
    'http://[2606:4700::1111]/',
    'http://[2606:4700:0:0:0:0:0:1111]:8080/a',
  ])('%s is fetched', async (url) => {
    const { fetcher } = fetcherOn();
    expect(await outcome(fetcher.fetch(url, options))).toBe('hello');
    expect(requests[0]?.headers.host).toBe(new URL(url).host);
  });

  it('return their final URL, status, type and exact bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    answer = (request, response) => {
      if (request.url === '/a') response.writeHead(301, { location: '/b?c#d' }).end();
      else response.writeHead(203, { 'content-type': 'image/png; x=y' }).end(bytes);
    };
    const fetched = await fetcherOn().fetcher.fetch('http://example.com/a', options);
    expect(fetched).toEqual({
      url: 'http://example.com/b?c',
      status: 203,
      contentType: 'image/png; x=y',
      bytes,
    });
  });

  it('are requested with only our own headers, each on a new connection', async () => {
    const connections = new Set<unknown>();
    answer = (request, response) => {
      connections.add(request.socket);
      response.setHeader('set-cookie', 'session=1; Path=/').end('hello');
    };
    const { fetcher } = fetcherOn();
    await fetcher.fetch('http://example.com/', { ...options, accept: 'image/*' });
    await fetcher.fetch('http://example.com/', options);
    expect(requests.map(({ method, headers }) => ({ method, ...headers }))).toEqual(
      ['image/*', '*/*'].map((accept) => ({
        method: 'GET',
        host: 'example.com',
        connection: 'close',
        accept,
        'accept-encoding': 'identity',
        'user-agent': 'svc-guarded-fetch/1.0',
      })),
    );
    expect(connections.size).toBe(2);
  });

  it('bypass every proxy of the environment', async () => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:9/');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('hello');
  });

  it('of an exempt host are fetched on any port, through the module, over the real network', async () => {
    const { port } = web.address() as AddressInfo;
    const settings = { allowPrivateHosts: [`127.0.0.1:${port}`, `LOCALHOST:${port}`] };
    const app = await NestFactory.createApplicationContext(GuardedFetchModule.with(settings), {
      logger: false,
    });
    const fetcher = app.get(GuardedFetcher);
    expect(await outcome(fetcher.fetch(`http://127.0.0.1:${port}/`, options))).toBe('hello');
    expect(await outcome(fetcher.fetch(`http://localhost:${port}/`, options))).toBe('hello');
    expect(await outcome(fetcher.fetch(`http://127.0.0.2:${port}/`, options))).toBe('address');
    expect(await outcome(fetcher.fetch('http://127.0.0.1:8080/', options))).toBe('address');
    expect(await outcome(fetcher.fetch(`http://a@127.0.0.1:${port}/`, options))).toBe('credentials');
    await app.close();
  });

  it.each(['127.0.0.1', 'http://a:80', 'a/b:80', 'a@b:80', ':80', 'a:', 'a?b:80', ''])(
    'cannot be exempted by "%s", which is not host:port',
    (entry) => {
      expect(() => new GuardedFetcher({ allowPrivateHosts: [entry] })).toThrow('is not host:port');
    },
  );
});

describe('names', () => {
  it('are resolved once, and only checked addresses are connected to', async () => {
    const { fetcher, network } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://rebind.example.com/', options))).toBe('hello');
    expect(network.lookups).toEqual(['rebind.example.com']);
    expect(network.connections).toEqual(['93.184.216.34:80']);
  });

  it('that rebind between two fetches are rejected the second time', async () => {
    const { fetcher, network } = fetcherOn();
    await fetcher.fetch('http://rebind.example.com/', options);
    expect(await outcome(fetcher.fetch('http://rebind.example.com/', options))).toBe('address');
    expect(network.connections).toEqual(['93.184.216.34:80']);
  });

  it('that rebind between two hops are rejected at the second', async () => {
    redirecting({ '/': '/again' });
    const { fetcher, network } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://rebind.example.com/', options))).toBe('address');
    expect(network.connections).toEqual(['93.184.216.34:80']);
    expect(requests).toHaveLength(1);
  });

  it('are not resolved again when a server disconnects at once', async () => {
    web.on('connection', (socket) => socket.destroy());
    const { fetcher, network } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/', options))).toBe('unreachable');
    expect(network.lookups).toEqual(['example.com']);
    expect(network.connections).toHaveLength(1);
  });

  it('without an address are unreachable', async () => {
    const { fetcher } = fetcherOn({ names: { 'empty.example.com': [[]] } });
    expect(await outcome(fetcher.fetch('http://nobody.example.com/', options))).toBe('unreachable');
    expect(await outcome(fetcher.fetch('http://empty.example.com/', options))).toBe('unreachable');
  });

  it('that do not exist are unreachable over the real network too', async () => {
    expect(await outcome(new GuardedFetcher().fetch('http://nobody.invalid/', options))).toBe('unreachable');
  });
});

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('with status %i are followed', async (status) => {
    redirecting({ '/': 'http://www.example.com:8080/b' }, status);
    expect(await fetcherOn().fetcher.fetch('http://example.com/', options)).toMatchObject({
      url: 'http://www.example.com:8080/b',
      status: 200,
    });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  it.each([
    ['http://127.0.0.1/', 'address'],
    ['//127.0.0.1/', 'address'],
    ['\\\\127.0.0.1\\', 'address'],
    ['http://2130706433/', 'address'],
    ['http://[::ffff:127.0.0.1]/', 'address'],
    ['http://169.254.169.254/latest/meta-data', 'address'],
    ['http://localhost:8080/', 'address'],
    ['http://metadata.google.internal/', 'address'],
    ['http://private.example.com/', 'address'],
    ['https://10.0.0.1/', 'address'],
    ['file:///etc/passwd', 'scheme'],
    ['gopher://127.0.0.1/', 'scheme'],
    ['data:text/plain,hello', 'scheme'],
    ['javascript:1', 'scheme'],
    ['http://user:secret@example.com/', 'credentials'],
    ['http://example.com:22/', 'port'],
    ['http://[', 'url'],
    [`/${'a'.repeat(8_200)}`, 'url'],
    ['/', 'redirect'],
    ['', 'redirect'],
    ['#fragment', 'redirect'],
  ])('to "%s" are rejected with %s', async (location, reason) => {
    redirecting({ '/': location });
    const { fetcher, network } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/', options))).toBe(reason);
    expect(network.connections).toEqual(['93.184.216.34:80']);
  });

  it('are followed five times but not six', async () => {
    const chain = Object.fromEntries(Array.from({ length: 6 }, (_, hop) => [`/${hop}`, `/${hop + 1}`]));
    redirecting(chain);
    const { fetcher } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/1', options))).toBe('done');
    requests = [];
    expect(await outcome(fetcher.fetch('http://example.com/0', options))).toBe('redirect');
    expect(requests).toHaveLength(6);
  });

  it('through good hosts to a private one at the end of the chain are rejected there', async () => {
    redirecting({ '/': '/b', '/b': 'http://six.example.com/c', '/c': 'http://private.example.com/d' });
    const { fetcher, network } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/', options))).toBe('address');
    expect(network.connections).toEqual(['93.184.216.34:80', '93.184.216.34:80', '2606:4700::1111:80']);
  });

  it('in a loop are rejected when the loop closes', async () => {
    redirecting({ '/': '/b', '/b': '/#again' });
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('redirect');
    expect(requests).toHaveLength(2);
  });

  it('without a location, or with two, are rejected', async () => {
    const { fetcher } = fetcherOn();
    answer = (_request, response) => response.writeHead(302).end();
    expect(await outcome(fetcher.fetch('http://example.com/', options))).toBe('redirect');
    answer = (_request, response) => response.writeHead(302, ['location', '/a', 'location', '/b']).end();
    expect(await outcome(fetcher.fetch('http://example.com/', options))).toBe('redirect');
  });

  it('drop cookies', async () => {
    answer = (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/b', 'set-cookie': 'a=b' }).end();
      else response.end(request.headers.cookie ?? 'none');
    };
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('none');
  });
});

describe('responses', () => {
  it.each([300, 304, 400, 401, 404, 429, 500, 503])('of status %i are rejected', async (status) => {
    answer = (_request, response) => response.writeHead(status).end();
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('status');
  });

  it('that are not HTTP are rejected', async () => {
    web.on('connection', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('unreachable');
  });

  it('that end before their length are rejected', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('hello', () => response.destroy());
    };
    expect(await outcome(fetcherOn().fetcher.fetch('http://example.com/', options))).toBe('unreachable');
  });
});

describe('a post', () => {
  const post = { body: '{"é":1}', headers: { 'content-type': 'application/json', 'webhook-id': 'e' } };

  it('sends its body and its headers', async () => {
    let body = '';
    answer = (request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => response.end('done'));
    };
    const { fetcher } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/', { ...options, post }))).toBe('done');
    expect(requests[0]).toMatchObject({ method: 'POST', headers: post.headers });
    expect(body).toBe(post.body);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    redirecting({ '/': 'http://example.com/there' }, status);
    const { fetcher } = fetcherOn();
    expect(await outcome(fetcher.fetch('http://example.com/', { ...options, post }))).toBe('redirect');
    expect(requests).toHaveLength(1);
  });

  it('resolves its name again each time, and is refused once that is not public', async () => {
    const { fetcher, network } = fetcherOn();
    const url = 'http://rebind.example.com/';
    expect(await outcome(fetcher.fetch(url, { ...options, post }))).toBe('hello');
    expect(await outcome(fetcher.fetch(url, { ...options, post }))).toBe('address');
    expect(network.lookups).toHaveLength(2);
  });
});
