import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storesMedia } from '../../test/media-store.conformance.js';
import { FileMediaStore } from './file-media-store.js';
import { mediaType } from './media-type.js';

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
