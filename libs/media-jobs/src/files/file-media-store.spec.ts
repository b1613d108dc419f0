import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { MediaKind } from '@svc/contracts/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storesMedia } from '../../test/media-store.conformance.js';
import { FileMediaStore } from './file-media-store.js';
import { mediaType, ofKind } from './media-type.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-media-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

storesMedia('the store of files', async () => {
  const own = await mkdtemp(join(tmpdir(), 'svc-media-'));
  return {
    store: await FileMediaStore.at(own),
    held: () => readdir(own),
    stop: () => rm(own, { recursive: true, force: true }),
  };
});

describe('the store of files', () => {
  it('removes what killed processes have left, but not what others are writing', async () => {
    await writeFile(join(folder, 'old.1.tmp'), 'x');
    await writeFile(join(folder, 'new.1.tmp'), 'x');
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(folder, 'old.1.tmp'), longAgo, longAgo);
    await FileMediaStore.at(folder);
    expect(await readdir(folder)).toEqual(['new.1.tmp']);
  });
});

const VIDEO = Buffer.concat([Buffer.from('\0\0\0\x18ftypisom', 'latin1'), Buffer.alloc(100, 'x')]);

async function passedOf(kind: MediaKind, parts: readonly Uint8Array[]): Promise<Buffer> {
  const passed: Uint8Array[] = [];
  for await (const part of ofKind(Readable.from(parts), kind)) passed.push(part);
  return Buffer.concat(passed);
}

describe('the type of media', () => {
  it.each([
    ['video', '\0\0\0\x18ftypisom', 'video/mp4'],
    ['video', '\x1a\x45\xdf\xa3webm', 'video/webm'],
    ['music', 'RIFF\x24\0\0\0WAVEfmt ', 'audio/wav'],
    ['music', '\xff\xfb\x14\xc0', 'audio/mpeg'],
    ['music', 'ID3\x04', 'audio/mpeg'],
    ['music', 'fLaC', 'audio/flac'],
  ] as const)('%s that begins with %j is %s', (kind, head, type) => {
    expect(mediaType(Buffer.from(head, 'latin1'), kind)).toBe(type);
  });

  it.each([
    ['music', '\xff\xf1\x50'],
    ['video', '<html>'],
    ['video', 'RIFF\x24\0\0\0WAVEfmt '],
    ['music', ''],
  ] as const)('is not %s if it begins with %j', async (kind, head) => {
    const bytes = Buffer.from(head, 'latin1');
    expect(() => mediaType(bytes, kind)).toThrow(TypeError);
    await expect(passedOf(kind, [bytes])).rejects.toThrow(`the result is no ${kind}`);
  });

  it.each([1, 63, 64, 65, 1_000])('passes a video as it is, in parts of %i bytes', async (size) => {
    const parts = Array.from({ length: Math.ceil(VIDEO.length / size) }, (_, at) =>
      VIDEO.subarray(at * size, (at + 1) * size),
    );
    expect((await passedOf('video', parts)).equals(VIDEO)).toBe(true);
  });
});
