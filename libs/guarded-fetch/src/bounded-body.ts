import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { FetchRefused } from './fetch-refused.js';

const FIRST_BYTES = 64 * 1024;
/** Each chunk costs time whatever its size; 100 MB in normal network packets stay below this. */
const MAX_PIECES = 100_000;

export interface BoundedBodyOptions {
  /** `Content-Encoding` in lower case, empty for none. */
  readonly encoding: string;
  /** The most bytes, compressed and decompressed. */
  readonly limitBytes: number;
  /** The announced length, at most the limit; NaN if the server sends none. It may be false. */
  readonly announcedBytes: number;
  readonly signal: AbortSignal;
}

/** The whole body, decompressed. Throws FetchRefused `too-large` or `encoding`, or the stream's error. */
export async function readBody(
  body: Readable,
  { encoding, limitBytes, announcedBytes, signal }: BoundedBodyOptions,
): Promise<Buffer> {
  if (encoding === '' || encoding === 'identity') {
    const received = new BoundedBytes(limitBytes, announcedBytes);
    await pipeline(body, (chunks: AsyncIterable<Buffer>) => received.fill(chunks), { signal });
    return received.bytes();
  }
  const received = new BoundedBytes(limitBytes);
  const wire = new BoundedBytes(limitBytes);
  await pipeline(
    body,
    (chunks: AsyncIterable<Buffer>) => wire.pass(chunks),
    decoderOf(encoding),
    (chunks: AsyncIterable<Buffer>) => received.fill(chunks),
    { signal },
  );
  return received.bytes();
}

/** The request accepts only identity; some servers compress anyway. */
function decoderOf(encoding: string): Transform {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new FetchRefused('encoding');
  }
}

/** Counts bytes and collects them in one growing buffer: a million small chunks would each cost an object. */
class BoundedBytes {
  private buffer = Buffer.alloc(0);
  private size = 0;
  private pieces = 0;

  constructor(
    private readonly limitBytes: number,
    private readonly announcedBytes = 0,
  ) {}

  async fill(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of chunks) {
      this.count(chunk);
      this.grow();
      chunk.copy(this.buffer, this.size - chunk.length);
    }
  }

  async *pass(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.count(chunk);
      yield chunk;
    }
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.size);
  }

  private count(chunk: Buffer): void {
    this.size += chunk.length;
    this.pieces += 1;
    if (this.size > this.limitBytes || this.pieces > MAX_PIECES) throw new FetchRefused('too-large');
  }

  private grow(): void {
    if (this.size <= this.buffer.length) return;
    // Room for the announced length is allocated once data arrives: outgrown buffers are garbage to collect.
    const announced = this.buffer.length === 0 ? 0 : this.announcedBytes;
    const wanted =
      announced >= this.size ? announced : Math.max(FIRST_BYTES, this.size, this.buffer.length * 2);
    const larger = Buffer.allocUnsafeSlow(Math.min(this.limitBytes, wanted));
    this.buffer.copy(larger);
    this.buffer = larger;
  }
}
