import type { ChunkStream } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { type ResponseWriter } from '@svc/paid/http';
import { GatheredBytes, type GatheredFile } from './gathered-bytes.js';
import { SpeechDelivery } from './speech-delivery.js';

const MIB = 1_048_576;

/** A client that records what it receives. */
function recordingClient() {
  const heads: object[] = [];
  let bytes = 0;
  let isEnded = false;
  const client = {
    isGone: false,
    beginFile: (headers: object) => void heads.push(headers),
    writeBytes: (parts: readonly Uint8Array[]) => {
      for (const { length } of parts) bytes += length;
    },
    endFile: () => {
      isEnded = true;
    },
    sendFile: (headers: object, parts: readonly Uint8Array[]) => {
      client.beginFile(headers);
      client.writeBytes(parts);
      client.endFile();
      return Promise.resolve();
    },
  };
  return { client: client as unknown as ResponseWriter, received: () => ({ heads, bytes, isEnded }) };
}

async function* pieces(count: number): AsyncGenerator<readonly Uint8Array[]> {
  const piece = Buffer.alloc(MIB);
  for (let at = 0; at < count; at += 1) yield await Promise.resolve([piece]);
}

const sourceOf = (count: number): ChunkStream => ({
  backend: 'b',
  retries: 0,
  contentType: 'audio/wav',
  bytes: pieces(count),
});

async function delivered(count: number, room: GatheredFile | undefined) {
  const { client, received } = recordingClient();
  const delivery = new SpeechDelivery({ source: sourceOf(count), client, room });
  await delivery.read();
  const { hasBegun } = delivery;
  await delivery.end();
  return { hasBegun, ...received() };
}

const HEAD = { 'content-type': 'audio/wav', 'x-content-type-options': 'nosniff' };

describe('a file of speech', () => {
  it('is sent whole with its length if it fits into memory', async () => {
    const whole = await delivered(32, new GatheredBytes().file());
    const heads = [{ ...HEAD, 'content-length': 32 * MIB }];
    expect(whole).toEqual({ hasBegun: false, heads, bytes: 32 * MIB, isEnded: true });
  });

  it('is streamed if it is larger, or if it was requested as a stream', async () => {
    const streamed = { hasBegun: true, heads: [HEAD], bytes: 33 * MIB, isEnded: true };
    expect(await delivered(33, new GatheredBytes().file())).toEqual(streamed);
    expect(await delivered(33, undefined)).toEqual(streamed);
  });

  it('is streamed while the files of others fill the memory for all', async () => {
    const gathered = new GatheredBytes();
    const others = Array.from({ length: 8 }, () => gathered.file());
    for (const other of others) expect(other.fits(32 * MIB)).toBe(true);
    expect((await delivered(1, gathered.file())).hasBegun).toBe(true);
    others[0]?.release();
    others[0]?.release();
    expect((await delivered(32, gathered.file())).hasBegun).toBe(false);
    expect((await delivered(1, gathered.file())).hasBegun).toBe(true);
  });
});
