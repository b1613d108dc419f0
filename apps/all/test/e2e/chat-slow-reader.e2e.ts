import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chunk, eventually } from '../response-bodies.js';
import { type Flood, FloodBackend } from '../flood-backend.js';
import { ResidentWatch, TELLS_MEMORY, residentBytes } from '../memory.js';
import { Platform } from '../platform.js';

const CHUNKS = 100_000;
const BYTES_PER_CHUNK = 350;
const STREAM_BYTES = 50_000_000;
const GROWTH_LIMIT_BYTES = 10_000_000;
const WARM_UP_STREAMS = 3;
/** For 200 MB in small chunks, beside other tests. */
const TIMEOUT = { timeout: 300_000 };

const PRICE_PER_TOKEN_NANO = 600;

let backend: FloodBackend;

beforeAll(async () => {
  backend = await FloodBackend.start({ chunks: CHUNKS, bytesPerChunk: BYTES_PER_CHUNK });
});

afterAll(() => backend.close());

function startPlatform(env: Record<string, string> = {}): Promise<Platform> {
  const backends = [{ url: backend.url, model: 'flood' }];
  const flood = { id: 'flood', backends, contextTokens: 100_000_000, maxCompletionTokens: 50_000_000 };
  return Platform.start({ models: [flood], env });
}

/** Requests the long stream on its own connection, without reading any of it. */
async function openStream(
  platform: Platform,
  apiKey: string,
): Promise<{ pieces: AsyncIterator<string>; flood: Flood }> {
  const before = backend.floods.length;
  const request = httpRequest(`${platform.apiUrl}/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
  });
  request.end(
    JSON.stringify({ model: 'flood', messages: [{ role: 'user', content: 'flood' }], stream: true }),
  );
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  const flood = backend.floods[before];
  if (!flood) throw new Error('the backend was not asked');
  return { pieces: response.setEncoding('utf8')[Symbol.asyncIterator](), flood };
}

/** Assembles a stream and finds missing or misplaced chunks. */
class StreamCheck {
  bytes = 0;
  next = 0;
  last = '';
  ended = '';
  private rest = '';

  read(text: string): void {
    this.bytes += Buffer.byteLength(text);
    const events = (this.rest + text).split('\n\n');
    this.rest = events.pop() ?? '';
    for (const event of events) {
      const number = /"content":"(\d+)\./.exec(event)?.[1];
      if (number !== undefined) {
        if (Number(number) !== this.next) throw new Error(`chunk ${number} came in place of ${this.next}`);
        this.next += 1;
      } else if (event !== ': keep-alive') {
        this.last = this.ended;
        this.ended = event;
      }
    }
  }

  /** The last chunk of a complete stream. */
  whole(): Chunk {
    if (this.next !== CHUNKS || this.rest !== '' || this.ended !== 'data: [DONE]')
      throw new Error(`the stream ended after ${this.next} chunks with ${this.ended}${this.rest}`);
    return JSON.parse(this.last.slice('data: '.length)) as Chunk;
  }
}

async function readAll(pieces: AsyncIterator<string>, check = new StreamCheck()): Promise<StreamCheck> {
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) check.read(piece.value);
  return check;
}

/** Waits until the backend is blocked, and returns the number of bytes it has written. */
async function stoppedAt(flood: Flood): Promise<number> {
  let seen = -1;
  let unchanged = 0;
  await eventually('the backend is slowed', async () => {
    await sleep(50);
    unchanged = flood.writtenBytes === seen && seen > 0 ? unchanged + 1 : 0;
    seen = flood.writtenBytes;
    return unchanged === 20;
  });
  return seen;
}

async function spentNano(platform: Platform, id: string): Promise<number> {
  const { usd } = await platform.balances(id);
  return Math.round((100 - Number(usd)) * 1e9);
}

describe('200, to a client that reads slowly', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await startPlatform();
  });

  afterAll(() => platform.stop());

  it('slows the backend, keeps memory bounded, delivers all 50 MB and charges once', TIMEOUT, async () => {
    const { id, apiKey } = await platform.account('100.00');
    // Streams that are read at full speed first bring the process to its working size.
    for (let stream = 0; stream < WARM_UP_STREAMS; stream += 1)
      (await readAll((await openStream(platform, apiKey)).pieces)).whole();
    const spentBefore = await spentNano(platform, id);
    const before = TELLS_MEMORY ? residentBytes(platform.service.pid) : 0;

    const { pieces, flood } = await openStream(platform, apiKey);
    const watch = TELLS_MEMORY ? new ResidentWatch(platform.service.pid) : undefined;
    try {
      const stopped = await stoppedAt(flood);
      expect(stopped).toBeLessThan(STREAM_BYTES / 2);

      const check = new StreamCheck();
      while (check.bytes < STREAM_BYTES / 10) {
        await sleep(1);
        const piece = await pieces.next();
        check.read(String(piece.value));
      }
      // The amount that the client has read since, plus the capacity of the buffers in between.
      expect(await stoppedAt(flood)).toBeLessThan(stopped + check.bytes + STREAM_BYTES / 10);

      const { usage, cost } = (await readAll(pieces, check)).whole();
      expect(check.bytes).toBeGreaterThan(STREAM_BYTES);
      expect(usage).toMatchObject({ completion_tokens: CHUNKS });
      expect(cost?.usd).toBeGreaterThan((CHUNKS * PRICE_PER_TOKEN_NANO) / 1e9);
      expect(await spentNano(platform, id)).toBe(spentBefore + Math.round((cost?.usd ?? 0) * 1e9));
    } finally {
      watch?.stop();
    }
    expect(flood.cut).toBe(false);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
    const growth = watch ? watch.peakBytes - before : 0;
    if (!watch)
      process.stderr.write('slow reader: SKIPPED the measure of memory, which only Linux reports\n');
    expect(growth).toBeLessThan(GROWTH_LIMIT_BYTES);
  });
});

describe('200, to a client that does not read', () => {
  let platform: Platform;

  beforeAll(async () => {
    platform = await startPlatform({ GATEWAY_CLIENT_IDLE_TIMEOUT_MS: '300' });
  });

  afterAll(() => platform.stop());

  it('is cut off after its time, and charged for what was delivered', async () => {
    const { id, apiKey } = await platform.account('100.00');
    const { pieces, flood } = await openStream(platform, apiKey);
    await eventually('the backend is let go', () => flood.cut);
    await eventually('what was delivered is charged', async () => (await spentNano(platform, id)) > 0);
    expect(flood.writtenBytes).toBeLessThan(STREAM_BYTES / 2);
    const check = new StreamCheck();
    await expect(readAll(pieces, check)).rejects.toThrow(/aborted|ECONNRESET/);
    expect(check.ended).not.toBe('data: [DONE]');
    expect(check.next).toBeGreaterThan(0);

    // At most what the backend sent, and at least what the client found in its buffers.
    const spent = await spentNano(platform, id);
    expect(spent).toBeGreaterThanOrEqual(check.next * PRICE_PER_TOKEN_NANO);
    const tokensPerChunk = Math.ceil((BYTES_PER_CHUNK + 6) / 6);
    const chunksWritten = Math.ceil(flood.writtenBytes / BYTES_PER_CHUNK);
    expect(spent).toBeLessThan(chunksWritten * tokensPerChunk * PRICE_PER_TOKEN_NANO);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });
});
