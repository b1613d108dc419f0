import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FetchRefused } from './fetch-refused.js';
import { GuardedFetcher, type GuardedFetchOptions } from './guarded-fetch.js';
import { type Connection, Network } from './network.js';
import { TestNetwork } from '../test/testing.js';

const limitBytes = 1_000_000;
const long = { limitBytes, timeoutMs: 20_000 };
/** For servers that never finish. */
const short = { limitBytes, timeoutMs: 200 };

let server: Server;
let sockets: Socket[];
let response: (socket: Socket) => void;
let fetcher: GuardedFetcher;

beforeEach(async () => {
  sockets = [];
  response = () => undefined;
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => response(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fetcher = new GuardedFetcher({}, new TestNetwork({ elsewhere: (server.address() as AddressInfo).port }));
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** The reason of a rejection, or the number of bytes. */
async function outcome(options: GuardedFetchOptions, url = 'http://1.1.1.1/'): Promise<string | number> {
  try {
    return (await fetcher.fetch(url, options)).bytes.length;
  } catch (error) {
    return error instanceof FetchRefused ? error.reason : String(error);
  }
}

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');

function send(headers: string[], body: Buffer): void {
  response = (socket) => socket.end(Buffer.concat([Buffer.from(head(...headers)), body]));
}

/** Writes the same bytes for as long as the client reads. */
function flood(socket: Socket, bytes: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', more);
  more();
}

const chunked = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

/** Resolves when all clients have disconnected from the server. */
const hungUp = (): Promise<unknown> =>
  Promise.all(
    sockets.map(async (socket) => {
      if (!socket.closed) await new Promise((resolve) => socket.resume().once('close', resolve));
    }),
  );

describe('size', () => {
  it('that is announced determines the memory used', async () => {
    const body = Buffer.alloc(300_000, 'x');
    send([`content-length: ${body.length}`], body);
    const { bytes } = await fetcher.fetch('http://1.1.1.1/', long);
    expect([bytes.equals(body), bytes.buffer.byteLength]).toEqual([true, body.length]);
  });

  it('of exactly the limit is accepted, one byte more is not', async () => {
    response = (socket) => socket.end(Buffer.concat([Buffer.from(head()), Buffer.alloc(limitBytes)]));
    expect(await outcome(long)).toBe(limitBytes);
    expect(await outcome({ ...long, limitBytes: limitBytes - 1 })).toBe('too-large');
  });

  it('is rejected by its announced length before any content is read', async () => {
    response = (socket) => socket.write(head(`content-length: ${limitBytes + 1}`));
    expect(await outcome(long)).toBe('too-large');
    await hungUp();
  });

  it('without end is rejected at the limit, and the connection is closed', async () => {
    response = (socket) => {
      socket.write(head('transfer-encoding: chunked'));
      flood(socket, chunked(Buffer.alloc(10_000)));
    };
    expect(await outcome(long)).toBe('too-large');
    await hungUp();
  });

  it('in very many tiny chunks is rejected', async () => {
    const tiny = Buffer.concat(Array.from({ length: 1_000 }, () => chunked(Buffer.from('x'))));
    response = (socket) => {
      socket.write(head('transfer-encoding: chunked'));
      flood(socket, tiny);
    };
    expect(await outcome({ ...long, limitBytes: 1_000_000_000 })).toBe('too-large');
    await hungUp();
  });

  it.each([
    ['early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n', ''],
    ['headers', 'x-header: 1\r\n', 'HTTP/1.1 200 OK\r\n'],
    ['trailers', 'x-header: 1\r\n', `${head('transfer-encoding: chunked')}0\r\n`],
  ])('of endless %s is limited', async (_name, line, start) => {
    response = (socket) => {
      socket.write(start);
      flood(socket, Buffer.from(line.repeat(1_000)));
    };
    expect(await outcome(long)).toBe('too-large');
    await hungUp();
  });

  it('of one header is limited', async () => {
    response = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-header: ');
      flood(socket, Buffer.from('a'.repeat(1_000)));
    };
    expect(await outcome(long)).toBe('too-large');
    await hungUp();
  });
});

describe('compression', () => {
  const text = Buffer.from('hello '.repeat(100));

  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', text],
    [' ', text],
  ])('with "%s" is decoded although it was not requested', async (encoding, body) => {
    send([`content-encoding: ${encoding}`], body);
    expect((await fetcher.fetch('http://1.1.1.1/', long)).bytes).toEqual(text);
  });

  const zeros = Buffer.alloc(50 * limitBytes);
  it.each([
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
  ])('with %s of a body that grows beyond the limit is rejected', async (encoding, bomb) => {
    expect(bomb.length).toBeLessThan(limitBytes);
    send([`content-encoding: ${encoding}`, `content-length: ${bomb.length}`], bomb);
    expect(await outcome(long)).toBe('too-large');
  });

  it('counts compressed bytes as well, so a compressed stream without content ends', async () => {
    const empty = gzipSync('');
    response = (socket) => {
      socket.write(head('content-encoding: gzip', 'transfer-encoding: chunked'));
      flood(socket, chunked(Buffer.concat(Array.from({ length: 500 }, () => empty))));
    };
    expect(await outcome(long)).toBe('too-large');
  });

  it.each([
    ['zstd', text],
    ['compress', text],
    ['gzip, gzip', gzipSync(gzipSync(text))],
    ['gzip', text],
    ['gzip', gzipSync(text).subarray(0, 20)],
    ['br', text],
    ['br', brotliCompressSync(text).subarray(0, 8)],
    ['deflate', text],
  ])('with "%s" that cannot be decoded is rejected', async (encoding, body) => {
    send([`content-encoding: ${encoding}`], body);
    expect(await outcome(long)).toBe('encoding');
  });
});

describe('the timeout', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['stops amid the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: b\r\n')],
    ['stops amid the content', (socket) => socket.write(`${head('content-length: 9')}1234`)],
    ['stops amid compressed content', (socket) => socket.write(head('content-encoding: gzip'))],
  ])('ends a request to a server that %s, and closes its connection', async (_name, behaviour) => {
    response = behaviour;
    expect(await outcome(short)).toBe('timeout');
    await hungUp();
  });

  it('ends a request to a server that keeps dripping content', async () => {
    response = (socket) => {
      socket.write(head('content-length: 100000'));
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    };
    expect(await outcome(short)).toBe('timeout');
    await hungUp();
  });

  it('ends a request to a server that never finishes TLS', async () => {
    expect(await outcome(short, 'https://1.1.1.1/')).toBe('timeout');
    await hungUp();
  });

  it('covers all hops together', async () => {
    let hops = 0;
    response = (socket) => {
      hops += 1;
      const location = `location: /${hops}`;
      setTimeout(() => socket.end(`HTTP/1.1 302 Found\r\n${location}\r\n\r\n`), short.timeoutMs * 0.7);
    };
    expect(await outcome(short)).toBe('timeout');
    expect(hops).toBeLessThanOrEqual(2);
  });

  class SilentNetwork extends Network {
    override resolve(): Promise<readonly string[]> {
      return new Promise(() => undefined);
    }

    override async connect(_to: readonly string[], _port: number, signal: AbortSignal): Promise<Connection> {
      await once(signal, 'abort');
      throw new Error('aborted');
    }

    override ownAddresses(): readonly string[] {
      return [];
    }
  }

  it.each(['http://example.com/', 'http://1.1.1.1/'])(
    'ends a request while the network is silent at %s',
    async (url) => {
      fetcher = new GuardedFetcher({}, new SilentNetwork());
      expect(await outcome(short, url)).toBe('timeout');
    },
  );
});

describe('an abort', () => {
  it('rejects with its own reason and closes the connection', async () => {
    const gone = new AbortController();
    response = (socket) => {
      socket.write(head('content-length: 9'));
      gone.abort(new Error('the client left'));
    };
    await expect(fetcher.fetch('http://1.1.1.1/', { ...long, signal: gone.signal })).rejects.toThrow(
      'the client left',
    );
    await hungUp();
  });

  it('before the start makes no connection', async () => {
    const signal = AbortSignal.abort(new Error('the client left'));
    await expect(fetcher.fetch('http://1.1.1.1/', { ...long, signal })).rejects.toThrow('the client left');
    expect(sockets).toEqual([]);
  });
});
