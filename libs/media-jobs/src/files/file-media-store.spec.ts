import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileMediaStore } from './file-media-store.js';
import { ObjectTooLarge } from './media-store.js';
import { mediaType } from './media-type.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-media-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* parts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function contentOf(store: FileMediaStore, key: string): Promise<string | undefined> {
  const content = await store.open(key);
  if (!content) return undefined;
  const bytes: Uint8Array[] = [];
  for await (const part of content) bytes.push(part);
  return Buffer.concat(bytes).toString();
}

describe('the store of files', () => {
  it('stores an object whole, replaces it and deletes it', async () => {
    const store = await FileMediaStore.at(folder);
    const stored = await store.put('a', parts('hello ', 'world'), 11);
    expect([stored.bytes, stored.head.toString()]).toEqual([11, 'hello world']);
    expect(await contentOf(store, 'a')).toBe('hello world');
    await store.put('a', parts('again'), 11);
    expect(await contentOf(store, 'a')).toBe('again');
    await store.remove('a');
    await store.remove('a');
    expect(await contentOf(store, 'a')).toBeUndefined();
  });

  it('keeps the earlier object, and no temporary file, when a new one fails or is too large', async () => {
    const store = await FileMediaStore.at(folder);
    await store.put('a', parts('first'), 10);
    await expect(store.put('a', parts('longer than', ' that'), 12)).rejects.toBeInstanceOf(ObjectTooLarge);
    const broken = (async function* () {
      yield* parts('half');
      throw new Error('cut');
    })();
    await expect(store.put('a', broken, 10)).rejects.toThrow('cut');
    expect(await contentOf(store, 'a')).toBe('first');
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('refuses names that are not plain', async () => {
    const store = await FileMediaStore.at(folder);
    for (const key of ['../a', 'a/b', '', 'a.tmp', 'x'.repeat(65)])
      await expect(store.put(key, parts('x'), 1)).rejects.toBeInstanceOf(RangeError);
  });

  it('removes what killed processes have left, but not what others are writing', async () => {
    await writeFile(join(folder, 'old.1.tmp'), 'x');
    await writeFile(join(folder, 'new.1.tmp'), 'x');
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(folder, 'old.1.tmp'), longAgo, longAgo);
    await FileMediaStore.at(folder);
    expect(await readdir(folder)).toEqual(['new.1.tmp']);
  });
});

describe('the type of media', () => {
  it.each([
    ['video', '\0\0\0\x18ftypisom', 'video/mp4'],
    ['video', '\x1a\x45\xdf\xa3webm', 'video/webm'],
    ['music', 'RIFF\x24\0\0\0WAVEfmt ', 'audio/wav'],
    ['music', '\xff\xfb\x14\xc0', 'audio/mpeg'],
    ['music', 'ID3\x04', 'audio/mpeg'],
    ['music', 'fLaC', 'audio/flac'],
    ['music', '\xff\xf1\x50', undefined],
    ['video', '<html>', undefined],
    ['video', 'RIFF\x24\0\0\0WAVEfmt ', undefined],
    ['music', '', undefined],
  ] as const)('%s that begins with %j is %s', (kind, head, type) => {
    expect(mediaType(Buffer.from(head, 'latin1'), kind)).toBe(type);
  });
});
