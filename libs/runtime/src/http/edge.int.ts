import { type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Module, Param } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../logging/logging.js';
import { type Running, type ServeOptions, serve } from '../process/serve.js';
import { rawResponse } from '../../test/raw-response.js';
import { AccessGates, type GatedAccess } from './access.js';
import { Serves } from './route.js';
import { InternalToken } from './secrets.js';

const common = {
  method: 'GET',
  operationId: 'x',
  tag: 'Models',
  summary: 'x',
  status: 200,
  reply: z.unknown(),
  refusals: [],
} as const;
const ROUTES = {
  list: { ...common, path: '/api/things', access: 'public' },
  make: { ...common, method: 'POST', path: '/api/things', access: 'key', body: z.object({}) },
  one: { ...common, path: '/api/things/:id', access: 'public', params: z.object({ id: z.string().max(5) }) },
  rest: { ...common, path: '/api/files/*', access: 'public', params: z.object({ name: z.string() }) },
  operator: { ...common, path: '/operator/things', access: 'operator' },
  internal: { ...common, path: '/internal/things', access: 'internal' },
} as const satisfies Record<string, RouteDefinition>;

const TOKEN = 'internal-token-of-the-tests-of-the-edge';

@Controller()
class Things {
  @Serves(ROUTES.list)
  list(): object {
    return { is: 'list' };
  }

  @Serves(ROUTES.make)
  make(): object {
    return { is: 'make' };
  }

  @Serves(ROUTES.one)
  one(@Param() { id }: { id: string }): object {
    return { is: 'one', id };
  }

  @Serves(ROUTES.rest)
  rest(@Param() { name }: { name: string }): object {
    return { is: 'rest', name };
  }

  @Serves(ROUTES.operator)
  operator(): object {
    return { is: 'operator' };
  }

  @Serves(ROUTES.internal)
  internal(): object {
    return { is: 'internal' };
  }
}

/** Admits every request except those with wrong credentials. */
class Gates implements AccessGates {
  enter(_access: GatedAccess, request: FastifyRequest): Promise<boolean> {
    if (request.headers.authorization === 'Bearer wrong') throw new Problem('AUTHENTICATION_FAILED');
    return Promise.resolve(true);
  }
}

@Module({
  controllers: [Things],
  providers: [
    { provide: AccessGates, useClass: Gates },
    { provide: InternalToken, useValue: new InternalToken(TOKEN) },
  ],
})
class ThingsModule {}

let running: Running;
let api: string;
let operator: string;

async function start(options: Partial<ServeOptions> = {}): Promise<void> {
  const local = { host: '127.0.0.1', port: 0 };
  const logger = createLogger('silent');
  running = await serve({
    module: ThingsModule,
    logger,
    api: local,
    operator: local,
    drainMs: 100,
    ...options,
  });
  api = running.apiUrl;
  operator = running.operatorUrl ?? '';
}

beforeEach(() => start());
afterEach(() => running.stop());

interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: { code?: string; error?: { code: string } };
}

/** The response to raw bytes that no HTTP client would send. */
async function say(url: string, bytes: string): Promise<RawResponse> {
  const text = await rawResponse(url, bytes);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.split(': ')[0]?.toLowerCase() ?? '', line.split(': ')[1] ?? ''] as const),
  );
  return {
    status: Number(first.split(' ')[1]),
    headers,
    body: body === '' ? {} : (JSON.parse(body) as RawResponse['body']),
  };
}

const get = (target: string, more = ''): string =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;

describe('ports', () => {
  it.each([
    '/operator/things',
    '/%6fperator/things',
    '/operator%2fthings',
    '//operator/things',
    'http://x/operator/things',
    'http://x/%6Fperator/things?a=/api/things',
    '/api/../operator/things',
  ])('the one for clients does not serve %s', async (target) => {
    expect(await say(api, get(target))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it.each(['/api/things', '/%61pi/things', 'http://x/api/things', '/internal/things'])(
    "the operator's does not serve %s",
    async (target) => {
      expect((await say(operator, get(target, `Authorization: Bearer ${TOKEN}\r\n`))).status).toBe(404);
    },
  );

  it('serve their own routes in any spelling, and their health', async () => {
    for (const target of ['/api/things', '/%61pi/things', 'http://x/api/things', '/healthz'])
      expect([target, (await say(api, get(target))).status]).toEqual([target, 200]);
    for (const target of ['/operator/things', '/%6fperator/things', '/healthz'])
      expect([target, (await say(operator, get(target))).status]).toEqual([target, 200]);
  });

  it('admit processes of the deployment by their token alone', async () => {
    const ask = (authorization?: string): Promise<Response> =>
      fetch(`${api}/internal/things`, { headers: { ...(authorization !== undefined && { authorization }) } });
    expect((await ask(`Bearer ${TOKEN}`)).status).toBe(200);
    for (const wrong of [undefined, '', 'Bearer ', 'Bearer \u00a0', `Bearer ${TOKEN}x`, TOKEN])
      expect((await ask(wrong)).status).toBe(401);
  });
});

describe('methods', () => {
  it.each([
    ['PUT', '/api/things', 'GET, HEAD, POST'],
    ['DELETE', '/%61pi/things?x=1', 'GET, HEAD, POST'],
    ['POST', '/api/things/7', 'GET, HEAD'],
    ['PATCH', '/api/files/a/b%2fc', 'GET, HEAD'],
    ['OPTIONS', '/api/things', 'GET, HEAD, POST'],
    ['TRACE', '/api/things', 'GET, HEAD, POST'],
    ['PROPFIND', '/api/things', 'GET, HEAD, POST'],
    ['QUERY', '/api/things', 'GET, HEAD, POST'],
  ])('%s %s is a 405 that lists the allowed methods', async (method, path, allow) => {
    const response = await say(api, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([response.status, response.headers.get('allow'), response.body.code]).toEqual([
      405,
      allow,
      'METHOD_NOT_ALLOWED',
    ]);
  });

  it.each([
    ['PUT', '/api/nothing'],
    ['PUT', '/api/things/7/8'],
    ['PUT', '/operator/things'],
    ['PROPFIND', '/'],
  ])('%s %s is a 404', async (method, path) => {
    const response = await say(api, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it.each(['/api/things/', '/api//things', '//api/things?x=1'])(
    'the path %s is that without its further slashes',
    async (path) => {
      expect((await say(api, get(path))).status).toBe(200);
      const put = await say(api, `PUT ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(put.status).toBe(405);
    },
  );

  it('HEAD works wherever GET does', async () => {
    expect((await fetch(`${api}/api/things`, { method: 'HEAD' })).status).toBe(200);
  });

  it('parameters are parsed by their schema, whatever their names in the path', async () => {
    expect(await (await fetch(`${api}/api/files/a/b%20c`)).json()).toEqual({ is: 'rest', name: 'a/b c' });
    expect(await (await fetch(`${api}/api/things/1234567`)).json()).toMatchObject({
      code: 'INVALID_REQUEST',
      error: { param: 'id' },
    });
  });
});

describe('an invalid request', () => {
  it.each([
    { what: 'a URL that cannot be decoded', bytes: get('/api/%zz') },
    { what: 'no host', bytes: 'GET /api/things HTTP/1.1\r\nConnection: close\r\n\r\n' },
    { what: 'another protocol', bytes: 'SSH-2.0-x\r\n\r\n' },
    { what: 'a method that nobody knows', bytes: 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n' },
    { what: 'an unknown expectation', bytes: get('/api/things', 'Expect: nonsense\r\n') },
    { what: 'CONNECT', bytes: 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n' },
    { what: 'two lengths', bytes: get('/api/things', 'Content-Length: 1\r\nContent-Length: 2\r\n') },
    {
      what: 'headers without an end',
      bytes: get('/api/things', `X: ${'x'.repeat(40_000)}\r\n`),
      status: 431,
      code: 'HEADERS_TOO_LARGE',
    },
  ])('with $what is rejected with the error envelope on either port', async ({ bytes, ...expected }) => {
    const { status = 400, code = 'MALFORMED_REQUEST' } = expected;
    for (const url of [api, operator]) {
      const response = await say(url, bytes);
      expect([response.status, response.body.code, response.body.error?.code]).toEqual([status, code, code]);
      for (const header of ['cf-ray', 'x-request-id', 'x-svc-version', 'x-svc-host-name'])
        expect([header, response.headers.get(header)]).toEqual([header, expect.stringMatching(/./)]);
      expect(response.headers.get('cf-ray')).toMatch(/^req-[0-9a-f]{32}$/);
    }
  });
});

describe('pages of other origins', () => {
  const ask = (method: string, headers: Record<string, string>, path = '/api/things'): Promise<Response> =>
    fetch(api + path, { method, headers });
  const preflight = (origin: string, path?: string): Promise<Response> =>
    ask(
      'OPTIONS',
      {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-a',
      },
      path,
    );
  const restart = async (corsOrigins: string): Promise<void> => {
    await running.stop();
    await start({ corsOrigins });
  };

  it('have no access by default', async () => {
    expect((await preflight('https://a.example')).status).toBe(405);
    const { headers } = await ask('GET', { origin: 'https://a.example' });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('may call client routes if their origin is listed, and read errors', async () => {
    await restart('https://a.example, https://b.example');
    const response = await preflight('https://b.example');
    expect([response.status, Object.fromEntries(response.headers)]).toEqual([
      204,
      expect.objectContaining({
        'access-control-allow-origin': 'https://b.example',
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'authorization,x-a',
        vary: 'origin',
      }),
    ]);
    for (const authorization of ['Bearer right', 'Bearer wrong']) {
      const { headers } = await ask('GET', { origin: 'https://a.example', authorization });
      expect(headers.get('access-control-allow-origin')).toBe('https://a.example');
      expect(headers.get('access-control-expose-headers')).toBe('*');
    }
    expect((await preflight('https://c.example')).status).toBe(405);
    expect(
      (await ask('GET', { origin: 'https://c.example' })).headers.get('access-control-allow-origin'),
    ).toBeNull();
  });

  it('may all call client routes, and only those, with `*`', async () => {
    await restart('*');
    expect((await preflight('https://c.example')).headers.get('access-control-allow-origin')).toBe('*');
    expect((await preflight('https://c.example', '/internal/things')).status).toBe(405);
    expect((await preflight('https://c.example', '/nothing')).status).toBe(404);
  });
});

describe('a stopping process', () => {
  /** A connection for one request after the other. */
  class Kept {
    private readonly socket: Socket;
    private text = '';

    constructor(url: string) {
      const { hostname, port } = new URL(url);
      this.socket = connect(Number(port), hostname);
      this.socket.on('data', (data) => (this.text += data.toString()));
      this.socket.on('error', () => undefined);
    }

    /** The head and body of the next response. */
    async ask(target: string, more = ''): Promise<string> {
      this.text = '';
      this.socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`);
      while (!/\r\n\r\n.*\}$/.test(this.text)) await sleep(5);
      return this.text;
    }

    get isEnded(): boolean {
      return this.socket.readableEnded || this.socket.destroyed;
    }
  }

  it('responds once more on each open connection, and closes it', async () => {
    const kept = [new Kept(api), new Kept(operator)];
    const targets = ['/api/things', '/operator/things'];
    for (const [at, one] of kept.entries())
      expect(await one.ask(targets[at] ?? '')).toMatch(/connection: keep-alive/i);
    const stopped = running.stop();
    const responses = await Promise.all(kept.map((one, at) => one.ask(targets[at] ?? '')));
    for (const response of responses) expect(response).toMatch(/^HTTP\/1.1 200 [^]*connection: close/i);
    await stopped;
    await expect.poll(() => kept.every(({ isEnded }) => isEnded)).toBe(true);
  });

  it('sends other processes of the deployment elsewhere, and is not ready', async () => {
    const [internal, probe] = [new Kept(api), new Kept(api)];
    await internal.ask('/internal/things', `Authorization: Bearer ${TOKEN}\r\n`);
    await probe.ask('/readyz');
    const stopped = running.stop();
    const [elsewhere, isReady] = await Promise.all([
      internal.ask('/internal/things', `Authorization: Bearer ${TOKEN}\r\n`),
      probe.ask('/readyz'),
    ]);
    expect(elsewhere).toMatch(/^HTTP\/1.1 503 [^]*x-svc-stopping: true/i);
    expect(isReady).toMatch(/^HTTP\/1.1 503 /);
    await stopped;
  });
});
