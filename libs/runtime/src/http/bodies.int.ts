import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import type { FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../logging/logging.js';
import { type Running, type ServeOptions, serve } from '../process/serve.js';
import { AccessGates, type GatedAccess } from './access.js';
import { bearer } from './secrets.js';
import { Serves } from './route.js';
import { RawRequest } from '../../test/raw-request.js';

const common = {
  method: 'POST',
  operationId: 'echo',
  tag: 'Chat',
  summary: 'Says how much came',
  access: 'key',
  status: 200,
  reply: z.unknown(),
  refusals: [],
} as const;
const body = z.record(z.string(), z.unknown());
const ROUTES = {
  large: { ...common, path: '/large', body, bodyLimitBytes: 4_000_000 },
  small: { ...common, path: '/small', body },
  none: { ...common, path: '/none' },
} as const satisfies Record<string, RouteDefinition>;

@Controller()
class EchoController {
  @Serves(ROUTES.large)
  large(@Body() given: object): object {
    return { chars: JSON.stringify(given).length };
  }

  @Serves(ROUTES.small)
  small(@Body() given: object): object {
    return { chars: JSON.stringify(given).length };
  }

  @Serves(ROUTES.none)
  none(@Body() given: unknown): object {
    return { given: given ?? 'nothing' };
  }
}

/** Authenticates any `key-<account>`. */
class Gates implements AccessGates {
  enter(_access: GatedAccess, request: FastifyRequest): boolean {
    const account = /^key-(.+)$/.exec(bearer(request.headers.authorization) ?? '')?.[1];
    if (account === undefined) throw new Problem('AUTHENTICATION_FAILED');
    request.record.accountId = account;
    return true;
  }
}

@Module({ controllers: [EchoController], providers: [{ provide: AccessGates, useClass: Gates }] })
class EchoModule {}

let running: Running | undefined;

afterEach(async () => {
  RawRequest.closeAll();
  await running?.stop();
  running = undefined;
});

async function start(bodies: ServeOptions['bodies'] = {}): Promise<string> {
  running = await serve({
    module: EchoModule,
    logger: createLogger('silent'),
    api: { host: '127.0.0.1', port: 0 },
    drainMs: 100,
    bodies,
  });
  return running.apiUrl;
}

const key = (account: string): Record<string, string> => ({ authorization: `Bearer key-${account}` });

const post = (
  url: string,
  headers: Record<string, string>,
  sent: string | Buffer<ArrayBuffer>,
): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: sent });

const codeOf = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  ((await response.json()) as { code?: string }).code,
];

describe('a body that may not be sent', () => {
  it.each([
    ['a stranger, to a route that needs a key', '/large Bearer none', 401],
    ['anybody, to a path that is not there', '/nowhere Bearer key-a', 404],
    ['anybody, to a route without a body', '/none Bearer key-a', 200],
  ])('%s: gets a response before any of the body has arrived', async (_what, sent, status) => {
    const url = await start();
    const [path = '', ...authorization] = sent.split(' ');
    const announced = { authorization: authorization.join(' '), 'content-length': '34800000' };
    const request = await RawRequest.post(url, path, announced);
    expect((await request.response()).status).toBe(status);
  });

  it('costs no more than discarding its bytes, whatever they are', async () => {
    const url = await start();
    const cpuOf = async (path: string, bytes: Buffer<ArrayBuffer>): Promise<number> => {
      const before = process.cpuUsage();
      for (let time = 0; time < 3; time += 1)
        await post(url + path, {}, bytes).then((response) => response.text());
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const harmless = Buffer.alloc(34_800_000, ' ');
    const hostile = Buffer.alloc(34_800_000, '[');
    await cpuOf('/none', harmless);
    const calibration = await cpuOf('/nowhere', harmless);
    expect(await cpuOf('/large', hostile)).toBeLessThan(5 * calibration);
    expect(await cpuOf('/nowhere', hostile)).toBeLessThan(5 * calibration);
  });
});

describe('the size limit of a body', () => {
  it('is that of its route, with or without an announced length', async () => {
    const url = await start();
    const sized = (chars: number): string => JSON.stringify({ a: 'x'.repeat(chars - 8) });
    expect((await post(`${url}/small`, key('a'), sized(65_536))).status).toBe(200);
    for (const sent of [sized(65_537), new Blob([sized(65_537)]).stream()])
      expect(await codeOf(await fetchDuplex(`${url}/small`, sent))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect((await post(`${url}/large`, key('a'), sized(65_537))).status).toBe(200);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('applies to the bytes that %s decodes to', async (encoding, compress) => {
    const url = await start();
    const headers = { ...key('a'), 'content-encoding': encoding };
    const fits = await post(
      `${url}/small`,
      headers,
      compress(Buffer.from(JSON.stringify({ é: 'ü'.repeat(9) }))),
    );
    expect([fits.status, await fits.json()]).toEqual([200, { chars: 17 }]);
    const bomb = compress(Buffer.alloc(30_000_000, ' '));
    expect(bomb.length).toBeLessThan(65_536);
    expect(await codeOf(await post(`${url}/small`, headers, bomb))).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const broken = await post(`${url}/small`, headers, Buffer.from('{"a": "not compressed at all"}'));
    expect(await codeOf(broken)).toEqual([400, 'INVALID_REQUEST']);
  });

  it('rejects an unsupported encoding, and a type other than JSON', async () => {
    const url = await start();
    const of = (headers: Record<string, string>): Promise<Response> =>
      post(`${url}/small`, { ...key('a'), ...headers }, '{}');
    expect(await codeOf(await of({ 'content-encoding': 'compress' }))).toEqual([
      415,
      'INVALID_CONTENT_ENCODING',
    ]);
    expect(await codeOf(await of({ 'content-encoding': 'gzip, br' }))).toEqual([
      415,
      'INVALID_CONTENT_ENCODING',
    ]);
    expect(await codeOf(await of({ 'content-type': 'text/plain' }))).toEqual([415, 'INVALID_CONTENT_TYPE']);
    expect((await of({ 'content-encoding': 'identity' })).status).toBe(200);
  });

  it.each([
    ['levels', `${'['.repeat(501)}${']'.repeat(501)}`],
    ['members of lists', JSON.stringify({ a: Array.from({ length: 40_001 }, () => 0) })],
    [
      'members of objects',
      JSON.stringify(Object.fromEntries(Array.from({ length: 40_001 }, (_, at) => [at, 0]))),
    ],
  ])('applies to %s before parsing', async (_what, sent) => {
    const url = await start();
    const response = await post(`${url}/large`, key('a'), sent);
    expect(await codeOf(response)).toEqual([400, 'INVALID_REQUEST']);
    // A client that is still sending would see a broken pipe instead of the response.
    expect(response.headers.get('connection')).not.toBe('close');
  });

  it('keeps characters that arrive in two pieces', async () => {
    const url = await start();
    const bytes = Buffer.from(JSON.stringify({ a: '€uro 🎈' }));
    const request = await RawRequest.post(url, '/small', {
      ...key('a'),
      'content-length': String(bytes.length),
    });
    for (const byte of bytes) {
      request.socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect((await request.response()).status).toBe(200);
  });
});

describe('the bodies being received', () => {
  const HALF_MB = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(500_000, 'x')]);
  /** Starts uploads that stall before their end. */
  const stall = (url: string, count: number, account: (at: number) => string): Promise<RawRequest[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const headers = { ...key(account(at)), 'content-length': '3000000' };
        const request = await RawRequest.post(url, '/large', headers);
        request.socket.write(HALF_MB);
        return request;
      }),
    );
  const statuses = async (requests: readonly RawRequest[]): Promise<number[]> => {
    const all = await Promise.all(requests.map((request) => request.response()));
    for (const { status, head } of all) if (status !== 408) expect(head).toMatch(/retry-after: \d+/i);
    return all.map(({ status }) => status);
  };

  it('are limited for each caller, without affecting others', async () => {
    const url = await start({ callerBytes: 3_500_000, graceMs: 3_000 });
    const requests = await stall(url, 20, () => 'greedy');
    const answers = statuses(requests);
    expect(
      (await post(`${url}/large`, key('other'), JSON.stringify({ a: 'x'.repeat(900_000) }))).status,
    ).toBe(200);
    const seen = await answers;
    expect(seen.filter((status) => status === 429).length).toBeGreaterThanOrEqual(13);
    expect(seen.filter((status) => status !== 429 && status !== 408)).toEqual([]);
  });

  it('are limited in total, and stalled ones free their room when they time out', async () => {
    const url = await start({ totalBytes: 5_000_000, graceMs: 3_000, bytesPerSecond: 10_000_000 });
    const requests = await stall(url, 80, (at) => `account-${at}`);
    const seen = await statuses(requests);
    expect(seen.filter((status) => status === 503).length).toBeGreaterThanOrEqual(70);
    expect(seen.filter((status) => status !== 503 && status !== 408)).toEqual([]);
    expect((await post(`${url}/large`, key('a'), JSON.stringify({ a: 'x'.repeat(3_900_000) }))).status).toBe(
      200,
    );
  });

  it('time out when they arrive too slowly, sooner the less has arrived', async () => {
    const url = await start({ graceMs: 1_000, bytesPerSecond: 250_000 });
    const announced = { ...key('a'), 'content-length': '3000000' };
    const order: string[] = [];
    const large = await RawRequest.post(url, '/large', announced);
    const small = await RawRequest.post(url, '/large', announced);
    large.socket.write(HALF_MB);
    small.socket.write('{');
    await Promise.all([
      large.response().then(({ status }) => order.push(`large ${status}`)),
      small.response().then(({ status }) => order.push(`small ${status}`)),
    ]);
    expect(order).toEqual(['small 408', 'large 408']);
    await Promise.all([large.closed, small.closed]);
  });

  it('close the connection of a client that keeps sending after a rejection', async () => {
    const url = await start({ graceMs: 60_000, discardBytes: 1_000_000 });
    const request = await RawRequest.post(url, '/large', { 'content-length': '300000000' });
    expect((await request.response()).status).toBe(401);
    const sending = setInterval(() => request.socket.write(HALF_MB), 20);
    await request.closed;
    clearInterval(sending);
  });

  it('leave nothing behind when clients disconnect', async () => {
    const url = await start({ totalBytes: 1_500_000 });
    for (let time = 0; time < 3; time += 1) {
      const requests = await stall(url, 1, () => 'a');
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const { socket, closed } of requests) {
        socket.destroy();
        await closed;
      }
    }
    // Would not fit beside any leftover.
    const whole = JSON.stringify({ a: 'x'.repeat(1_400_000) });
    let status = 0;
    while (status !== 200) ({ status } = await post(`${url}/large`, key('a'), whole));
    expect(status).toBe(200);
  });
});

describe('a route', () => {
  it('without a definition fails the start', async () => {
    @Controller()
    class Stray {
      @Post('/stray')
      stray(): void {
        // Never reached.
      }
    }
    @Module({ controllers: [Stray], providers: [{ provide: AccessGates, useClass: Gates }] })
    class StrayModule {}
    const options = { logger: createLogger('silent'), api: { host: '127.0.0.1', port: 0 } };
    await expect(serve({ module: StrayModule, ...options })).rejects.toThrow(/\/stray has no definition/);
  });

  it('without a gate for its kind of access fails the start', async () => {
    @Module({ controllers: [EchoController] })
    class OpenModule {}
    const options = { logger: createLogger('silent'), api: { host: '127.0.0.1', port: 0 } };
    await expect(serve({ module: OpenModule, ...options })).rejects.toThrow(/no access rule exists for/);
  });
});

/** A request with a streamed body, which has no announced length. */
function fetchDuplex(url: string, sent: string | ReadableStream): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...key('a') };
  return fetch(url, { method: 'POST', headers, body: sent, duplex: 'half' });
}
