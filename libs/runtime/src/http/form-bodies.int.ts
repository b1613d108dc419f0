import { createHash, randomBytes } from 'node:crypto';
import { Body, Controller, Module } from '@nestjs/common';
import { FILE_LIMIT_BYTES, FormFile, type RouteDefinition } from '@svc/api/route';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createLogger } from '../logging/logging.js';
import { type Running, type ServeOptions, serve } from '../process/serve.js';
import { AccessGates } from './access.js';
import { bearer } from './secrets.js';
import { Serves } from './route.js';
import { RawRequest } from '../../test/raw-request.js';

const ROUTE = {
  method: 'POST',
  path: '/either',
  operationId: 'either',
  tag: 'Chat',
  summary: 'Says what came',
  access: 'key',
  status: 200,
  body: z.looseObject({ file: z.union([FormFile, z.string()]), n: z.int().optional() }),
  bodyType: ['application/json', 'multipart/form-data'],
  bodyLimitBytes: 27_262_976,
  reply: z.unknown(),
  refusals: [],
} as const satisfies RouteDefinition;

/** Requests are counted, and wait for `released`. */
let entered = 0;
let released: Promise<void>;
let release: () => void;

@Controller()
class EitherController {
  @Serves(ROUTE)
  async either(@Body() { file, ...rest }: { file: FormFile | string; n?: number }): Promise<object> {
    entered += 1;
    await released;
    const bytes = typeof file === 'string' ? Buffer.from(file, 'base64') : file.bytes;
    return { ...rest, bytes: bytes.length, hash: createHash('sha1').update(bytes).digest('hex') };
  }
}

/** Authenticates any `key-<account>`. */
class Gates implements AccessGates {
  enter(_access: unknown, request: FastifyRequest): boolean {
    request.record.accountId = bearer(request.headers.authorization)?.slice('key-'.length) ?? '';
    return true;
  }
}

@Module({ controllers: [EitherController], providers: [{ provide: AccessGates, useClass: Gates }] })
class EitherModule {}

let running: Running | undefined;

/** Lets requests pass until `hold` is called. */
beforeEach(() => {
  hold();
  release();
});

afterEach(async () => {
  release();
  RawRequest.closeAll();
  await running?.stop();
  running = undefined;
});

function hold(): void {
  entered = 0;
  ({ promise: released, resolve: release } = Promise.withResolvers<void>());
}

async function start(bodies: ServeOptions['bodies'] = {}): Promise<string> {
  running = await serve({
    module: EitherModule,
    logger: createLogger('silent'),
    api: { host: '127.0.0.1', port: 0 },
    drainMs: 100,
    bodies,
  });
  return `${running.apiUrl}/either`;
}

const tick = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 10));

const until = async (isReached: () => boolean): Promise<void> => {
  while (!isReached()) await tick();
};

const key = (account: string): Record<string, string> => ({ authorization: `Bearer key-${account}` });

function upload(url: string, account: string, signal?: AbortSignal): Promise<Response> {
  const form = new FormData();
  form.append('file', new File([Buffer.alloc(900_000)], 'f'));
  return fetch(url, { method: 'POST', headers: key(account), body: form, ...(signal && { signal }) });
}

describe('a route with two types of body', () => {
  const content = randomBytes(300_000);
  const hash = createHash('sha1').update(content).digest('hex');
  const head = '--b\r\nContent-Disposition: form-data; name=';
  const type = 'multipart/form-data; boundary=b';

  it('reads JSON and forms as the same values, forms in any chunks and order, without a length', async () => {
    const url = await start();
    const body = JSON.stringify({ file: content.toString('base64'), n: 3 });
    const headers = { ...key('a'), 'content-type': 'application/json' };
    const expected = { n: 3, bytes: 300_000, hash };
    expect(await (await fetch(url, { method: 'POST', headers, body })).json()).toEqual(expected);
    const file = Buffer.concat([
      Buffer.from(`${head}"file"; filename="f"\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]);
    const text = Buffer.from(`${head}"n"\r\n\r\n3\r\n`);
    for (const order of [
      [file, text],
      [text, file],
    ]) {
      const whole = Buffer.concat([...order, Buffer.from('--b--\r\n')]);
      for (let time = 0; time < 5; time += 1) {
        const request = await RawRequest.post(url, '/either', {
          ...key('a'),
          'content-type': type,
          'transfer-encoding': 'chunked',
        });
        for (let at = 0; at < whole.length;) {
          const size = Math.ceil(Math.random() ** 4 * (whole.length - at));
          request.socket.write(`${size.toString(16)}\r\n`);
          request.socket.write(Buffer.concat([whole.subarray(at, at + size), Buffer.from('\r\n')]));
          at += size;
        }
        request.socket.write('0\r\n\r\n');
        expect(await request.json()).toEqual(expected);
      }
    }
  });

  it('refuses other types, a form without its end, and a file that is a byte too large', async () => {
    const url = await start();
    const send = (body: Buffer<ArrayBuffer>, given = type): Promise<Response> =>
      fetch(url, { method: 'POST', headers: { ...key('a'), 'content-type': given }, body });
    const form = (size: number, end = '\r\n--b--'): Buffer<ArrayBuffer> =>
      Buffer.concat([
        Buffer.from(`${head}"file"; filename="f"\r\n\r\n`),
        Buffer.alloc(size),
        Buffer.from(end),
      ]);
    expect((await send(form(1), 'text/plain')).status).toBe(415);
    expect((await send(form(1, ''))).status).toBe(400);
    expect((await send(form(FILE_LIMIT_BYTES))).status).toBe(200);
    const refused = await send(form(FILE_LIMIT_BYTES + 1));
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain('file: the file is over 26,214,400 bytes');
  });

  it('counts forms until their responses end, so that any number of uploads is bounded', async () => {
    const url = await start({ totalBytes: 4_000_000, callerBytes: 2_000_000 });
    hold();
    const responses: Response[] = [];
    const uploads = Array.from({ length: 50 }, async (_, at) => {
      responses.push(await upload(url, `account-${at}`));
    });
    // Those beyond the limit are rejected while the others wait.
    await until(() => responses.length + entered === 50);
    expect(entered).toBeLessThanOrEqual(4);
    for (const { status, headers } of responses)
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    release();
    await Promise.all(uploads);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(entered);
    for (let time = 0; time < 10; time += 1) expect((await upload(url, 'a')).status).toBe(200);
  });

  it('counts forms until their client disconnects', async () => {
    const url = await start({ totalBytes: 1_500_000 });
    hold();
    const leaving = new AbortController();
    const left = upload(url, 'a', leaving.signal).catch(() => undefined);
    await until(() => entered === 1);
    expect((await upload(url, 'a')).status).toBe(503);
    leaving.abort();
    await left;
    const next = (async () => {
      let response = await upload(url, 'a');
      while (response.status === 503) response = await upload(url, 'a');
      return response.status;
    })();
    await until(() => entered === 2);
    release();
    expect(await next).toBe(200);
  });
});
