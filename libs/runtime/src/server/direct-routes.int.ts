import { gzipSync } from 'node:zlib';
import { Controller, Module, Req, Res } from '@nestjs/common';
import type { RouteDefinition } from '@svc/api/route';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AccessGates, type GatedAccess } from '../http/access.js';
import type { Incoming, Outgoing } from '../http/incoming.js';
import { RequestSteps } from '../http/request-steps.js';
import { Serves } from '../http/route.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from '../process/serve.js';
import { rawResponse } from '../../test/raw-response.js';
import { DirectRequest } from './direct-request.js';

const ROUTE = {
  method: 'POST',
  path: '/api/v1/work',
  operationId: 'x',
  tag: 'Models',
  summary: 'x',
  access: 'key',
  status: 200,
  body: z.object({ word: z.string(), as: z.enum(['text', 'problem', 'fault', 'file']).optional() }),
  bodyLimitBytes: 5_000,
  reply: z.unknown(),
  refusals: [],
  idPrefix: 'work-',
} as const satisfies RouteDefinition;

type Work = z.infer<typeof ROUTE.body>;

/** Whether the last request came directly. */
let isDirect = false;

@Controller()
class Works {
  @Serves(ROUTE, { isDirect: true })
  work(@Req() request: Incoming, @Res() reply: Outgoing): Promise<void> {
    isDirect = request instanceof DirectRequest;
    const { word, as } = request.body as Work;
    if (as === 'problem') return Promise.reject(new Problem('UNAVAILABLE', { retryAfterSeconds: 3 }));
    if (as === 'fault') return Promise.reject(new Error('unexpected'));
    if (as === 'file') {
      reply.hijack().raw.writeHead(200, { ...(reply.getHeaders() as object), 'content-type': 'x/y' });
      reply.raw.end(word);
      return Promise.resolve();
    }
    const { ip, host, protocol } = request;
    reply
      .header('X-Word', word)
      .headers({ 'X-Balance': 3, 'content-type': 'application/json; charset=utf-8' });
    reply.send(JSON.stringify({ word, ip, host, protocol, url: request.url.replace(/\/$/, '') }));
    return Promise.resolve();
  }
}

class Gates implements AccessGates {
  enter(_access: GatedAccess, { headers }: FastifyRequest): boolean | Promise<boolean> {
    if (headers.authorization === undefined) throw new Problem('AUTHENTICATION_FAILED');
    if (headers.authorization === 'later') return Promise.resolve(true);
    if (headers.authorization === 'refused later') return Promise.reject(new Problem('ACCOUNT_SUSPENDED'));
    return true;
  }
}

@Module({ controllers: [Works], providers: [{ provide: AccessGates, useClass: Gates }] })
class WorksModule {}

let running: Running;

beforeAll(async () => {
  const local = { host: '127.0.0.1', port: 0 };
  running = await serve({
    module: WorksModule,
    logger: createLogger('silent'),
    api: local,
    operator: local,
    corsOrigins: 'https://app.example',
    trustedProxies: 'loopback,10.0.0.0/8',
    drainMs: 100,
  });
  const steps = running.app.get(RequestSteps);
  steps.beforeHandler(({ headers }, reply) => {
    if (headers['repeat'] === undefined) return true;
    const isEmpty = headers['repeat'] === 'none';
    reply.header('content-type', 'text/plain').status(isEmpty ? 204 : 200);
    reply.send(isEmpty ? undefined : 'a repetition');
    return Promise.resolve(false);
  });
  steps.beforeSend((_request, reply, payload) => {
    reply.header('x-length', typeof payload === 'string' ? payload.length : 0);
    return Promise.resolve();
  });
  steps.beforeSend(({ headers }) =>
    headers['failing'] === undefined ? Promise.resolve() : Promise.reject(new Problem('UNAVAILABLE')),
  );
});
afterAll(() => running.stop());

/** All bytes of the responses to raw bytes, without what differs between any two of them. */
async function responsesTo(bytes: Buffer): Promise<string> {
  const text = await rawResponse(running.apiUrl, bytes);
  return text.replaceAll(/(work|req)-[\da-f]{32}/g, '$1-ID').replaceAll(/Date: .*/g, 'Date: X');
}

interface Sent {
  readonly path?: string;
  readonly version?: string;
  readonly method?: string;
  readonly host?: string;
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
  /** What the body is said to have; default: its length. */
  readonly length?: string;
}

const GOOD = '{"word":"tide"}';
const JSON_TYPE = 'content-type: application/json';
const KEY = 'authorization: key';

function bytesOf(sent: Sent, isLast: boolean): Buffer {
  const { path = ROUTE.path, version = '1.1', method = 'POST', host = 'host: x', body = GOOD } = sent;
  const { headers = [KEY, JSON_TYPE], length = `content-length: ${Buffer.byteLength(body)}` } = sent;
  const lines = [
    `${method} ${path} HTTP/${version}`,
    host,
    ...headers,
    length,
    ...(isLast ? ['connection: close'] : []),
  ];
  return Buffer.concat([
    Buffer.from(`${lines.filter((line) => line !== '').join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ]);
}

/**
 * The responses to the same requests from a direct route, and from Fastify, which reads a path with a slash
 * at its end.
 */
async function both(...sent: readonly Sent[]): Promise<{ direct: string; general: string }> {
  const bytes = (end: string): Buffer =>
    Buffer.concat(
      sent.map((each, at) => bytesOf({ ...each, path: `${ROUTE.path}${end}` }, at === sent.length - 1)),
    );
  return { direct: await responsesTo(bytes('')), general: await responsesTo(bytes('/')) };
}

const long = 'x'.repeat(6_000);

const CASES: Record<string, Sent> = {
  'a response': {},
  'a response with other bytes than characters': { body: '{"word":"Ebbe und Flüt"}' },
  'a response that its handler writes': { body: '{"word":"tide","as":"file"}' },
  'HTTP/1.0': { version: '1.0' },
  'a problem': { body: '{"word":"tide","as":"problem"}' },
  'an unexpected fault': { body: '{"word":"tide","as":"fault"}' },
  'no credentials': { headers: [JSON_TYPE] },
  'no credentials, and a long body': { headers: [JSON_TYPE], body: long },
  'an admission that takes a while': { headers: ['authorization: later', JSON_TYPE] },
  'a refusal that takes a while': { headers: ['authorization: refused later', JSON_TYPE] },
  'a body that is too long': { body: `{"word":"${long}"}` },
  'a body that is no JSON': { body: '{"word":' },
  'a body with too many levels': { body: `{"word":${'['.repeat(600)}` },
  'an empty body': { body: '' },
  'no body': { body: '', length: '' },
  'a body that its schema refuses': { body: '{"word":7}' },
  'a lone surrogate': { body: '{"word":"\\ud800"}' },
  'an encoded body': { body: gzipSync(GOOD), headers: [KEY, JSON_TYPE, 'content-encoding: gzip'] },
  'a body that is not encoded as it says': { headers: [KEY, JSON_TYPE, 'content-encoding: gzip'] },
  'an unknown encoding': { headers: [KEY, JSON_TYPE, 'content-encoding: rot13'] },
  'a body in chunks': {
    body: `5\r\n${GOOD.slice(0, 5)}\r\na\r\n${GOOD.slice(5)}\r\n0\r\n\r\n`,
    length: 'transfer-encoding: chunked',
  },
  'no content type': { headers: [KEY] },
  'another content type': { headers: [KEY, 'content-type: text/plain'] },
  'a content type with a charset': { headers: [KEY, `${JSON_TYPE}; charset=UTF-8`] },
  'a content type with other parameters': { headers: [KEY, `${JSON_TYPE}; a="b"; c`] },
  'a faulty content type': { headers: [KEY, 'content-type: application/json/x;;='] },
  'another method': { method: 'PUT' },
  'no method': { method: 'OPTIONS', headers: [KEY] },
  'a preflight': {
    method: 'OPTIONS',
    headers: ['origin: https://app.example', 'access-control-request-method: POST'],
    body: '',
    length: '',
  },
  'a page of an allowed origin': { headers: [KEY, JSON_TYPE, 'origin: https://app.example'] },
  'a page of another origin': { headers: [KEY, JSON_TYPE, 'origin: https://other.example'] },
  'no host': { host: '' },
  'an expectation': { headers: [KEY, JSON_TYPE, 'expect: 100-continue'] },
  'an unknown expectation': { headers: [KEY, JSON_TYPE, 'expect: 7'] },
  'a step that responds': { headers: [KEY, JSON_TYPE, 'repeat: some'] },
  'a step that responds without content': { headers: [KEY, JSON_TYPE, 'repeat: none'] },
  'forged headers of a proxy': {
    headers: [
      KEY,
      JSON_TYPE,
      'x-forwarded-for: 8.8.8.8, 9.9.9.9, 10.1.1.1',
      'x-forwarded-proto: gopher, https',
      'x-forwarded-host: a.example, b.example',
    ],
  },
};

describe('a direct route responds as the same route under Fastify does, byte for byte,', () => {
  it.each(Object.keys(CASES))('to %s', async (name) => {
    const { direct, general } = await both(CASES[name] ?? {});
    expect(direct).toBe(general);
    expect(direct).toMatch(/^HTTP\/1\.1 \d{3} /);
  });

  it('to several requests that are sent at once, whichever of them are refused', async () => {
    const at = { ...CASES['a problem'] };
    const { direct, general } = await both({}, at, { headers: [JSON_TYPE] }, { body: '{"word":7}' }, {});
    expect(direct).toBe(general);
    expect(direct.match(/HTTP\/1\.1 \d{3}/g)).toEqual(
      ['200', '503', '401', '400', '200'].map((status) => `HTTP/1.1 ${status}`),
    );
  });

  it('to any headers of proxies', async () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('10.2.3.4', '127.0.0.1', '', 'x', '::1', '::ffff:10.0.0.1'),
    );
    const text = fc.array(address, { maxLength: 4 }).map((each) => each.join(', '));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (from, proto, host) => {
        const headers = [
          KEY,
          JSON_TYPE,
          `x-forwarded-for: ${from}`,
          `x-forwarded-proto: ${proto}`,
          `x-forwarded-host: ${host}`,
        ];
        const { direct, general } = await both({ headers });
        expect(direct).toBe(general);
      }),
      { numRuns: 60 },
    );
  });
});

it.each([
  ['takes a usual request', {}, true],
  ['takes a usual charset', { headers: [KEY, `${JSON_TYPE}; charset=utf-8`] }, true],
  ['leaves another content type to Fastify', { headers: [KEY, `${JSON_TYPE}; a=b`] }, false],
  ['leaves another spelling of its path to Fastify', { path: '/api//v1/work' }, false],
  ['leaves a query to Fastify', { path: '/api/v1/work?a=b' }, false],
] as const)('a direct route %s', async (_title, sent, isExpected) => {
  isDirect = !isExpected;
  expect(await responsesTo(bytesOf(sent, true))).toMatch(/^HTTP\/1\.1 200 /);
  expect(isDirect).toBe(isExpected);
});

it('a step that fails before the response is a problem in the envelope of all problems', async () => {
  const failing = { headers: [KEY, JSON_TYPE, 'failing: yes'] };
  const response = await responsesTo(bytesOf(failing, true));
  expect(response).toMatch(/^HTTP\/1\.1 503 /);
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toMatchObject({ code: 'UNAVAILABLE' });
});
