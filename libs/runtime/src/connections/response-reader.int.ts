import { type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedHead, ResponseHeaders } from './response-head.js';
import { ResponseReader } from './response-reader.js';

/** A response as a reader understood it. */
interface ReadResponse {
  readonly status: number;
  readonly headers: ResponseHeaders | IncomingHttpHeaders;
  readonly body: string;
  readonly trailers: ResponseHeaders | IncomingHttpHeaders;
}

/** The bytes that the server sends to the next request, and then it ends the connection. */
let sent: Uint8Array = Buffer.alloc(0);
let server: Server;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(sent));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => void server.close());

/** What Node's client makes of a response; undefined if it refuses it. */
async function nodesReading(bytes: Buffer): Promise<ReadResponse | undefined> {
  sent = bytes;
  const { port } = server.address() as AddressInfo;
  const { promise, resolve } = Promise.withResolvers<ReadResponse | undefined>();
  const client = request({ port, host: '127.0.0.1', method: 'POST', agent: false }, (response) => {
    const { statusCode: status = 0, headers } = response;
    buffer(response).then(
      (body) => resolve({ status, headers, body: body.toString('latin1'), trailers: response.trailers }),
      () => resolve(undefined),
    );
  });
  client.on('error', () => resolve(undefined));
  client.end();
  return promise;
}

/** What our reader makes of the same, in these pieces. */
function ourReading(pieces: readonly Buffer[]): ReadResponse | undefined {
  let head: ReceivedHead | undefined;
  let trailers: ResponseHeaders | undefined;
  const body: Buffer[] = [];
  const reader = new ResponseReader({
    onHead: (read) => (head = read),
    onData: (bytes) => void body.push(bytes),
    onEnd: (read) => (trailers = read),
  });
  reader.begin();
  try {
    for (const piece of pieces) reader.read(piece);
  } catch {
    return undefined;
  }
  reader.ended();
  if (!head || !trailers) return undefined;
  const { status, headers } = head;
  return { status, headers, body: Buffer.concat(body).toString('latin1'), trailers };
}

const RESPONSES = [
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-end\r\n\r\nA\r\n0123456789\r\n0\r\nx-end: 1\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 429 \r\nretry-after: 1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 200 OK\r\ncontent-type:\ttext/plain \r\n\r\nuntil the end',
  'HTTP/1.1 500 Fehler \xe4\r\nx: \xff\r\ncontent-length: 3\r\n\r\n\x00\x01\x02',
].map((text) => Buffer.from(text, 'latin1'));

/** What Node joins and our reader lists. */
const joined = (headers: ReadResponse['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

const comparable = (read: ReadResponse | undefined): unknown =>
  read && { ...read, headers: joined(read.headers), trailers: joined(read.trailers) };

describe('a response', () => {
  it.each(RESPONSES.map((bytes) => [bytes.toString('latin1').slice(0, 40), bytes] as const))(
    'is read as Node reads it: %j',
    async (_, bytes) => {
      const read = ourReading([bytes]);
      expect(read).toBeDefined();
      expect(comparable(read)).toEqual(comparable(await nodesReading(bytes)));
    },
  );

  it('is the same in any two pieces, and byte by byte', () => {
    for (const bytes of RESPONSES) {
      const whole = ourReading([bytes]);
      for (let at = 0; at <= bytes.length; at += 1)
        expect(ourReading([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
      expect(ourReading(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
    }
  });

  it.each([
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a length with a sign', 'HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\na'],
    ['a length that is a list', 'HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\na'],
    ['an empty length', 'HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\na'],
    ['a folded header', 'HTTP/1.1 200 OK\r\nx: 1\r\n 2\r\ncontent-length: 0\r\n\r\n'],
    ['a space before the colon', 'HTTP/1.1 200 OK\r\ncontent-length : 0\r\n\r\n'],
    ['a lone line feed', 'HTTP/1.1 200 OK\r\nx: 1\ny: 2\r\ncontent-length: 0\r\n\r\n'],
    ['a NUL in a header', 'HTTP/1.1 200 OK\r\nx: \0\r\ncontent-length: 0\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['no protocol', 'hello\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['bytes after its end', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n\r\n0\r\n\r\n'],
    ['a chunk with a sign', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n'],
    [
      'a chunk longer than its size',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n',
    ],
    [
      'a chunk that ends with a line feed',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n',
    ],
    ['a huge chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\na`],
    ['a long head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`],
    [
      'long trailers',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
    ],
    ['no end', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell'],
    ['chunks without an end', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ])('with %s is refused', (_, text) => {
    expect(ourReading([Buffer.from(text, 'latin1')])).toBeUndefined();
  });

  it('that is damaged is refused, or read as Node reads it', async () => {
    const damage = fc.record({
      response: fc.nat(RESPONSES.length - 1),
      edits: fc.array(
        fc.record({
          at: fc.nat(200),
          removed: fc.nat(3),
          added: fc.constantFrom(
            '',
            ' ',
            '\r',
            '\n',
            '\r\n',
            '0',
            '1',
            ':',
            ';',
            ',',
            '\0',
            'chunked',
            'close',
            'x: y\r\n',
            'content-length: 1\r\n',
            'transfer-encoding: chunked\r\n',
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ response, edits }) => {
        let text = RESPONSES[response]?.toString('latin1') ?? '';
        for (const { at, removed, added } of edits)
          text = text.slice(0, at) + added + text.slice(at + removed);
        const bytes = Buffer.from(text, 'latin1');
        const read = ourReading([bytes]);
        const nodes = read && (await nodesReading(bytes));
        expect(comparable(read)).toEqual(comparable(nodes));
      }),
      { numRuns: repeats('DAMAGED_RESPONSES') },
    );
  });
});
