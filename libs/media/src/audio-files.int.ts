import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mp3, wav } from '../test/audio-files.js';
import { AudioFiles, AudioRejected } from './audio-files.js';
import { imagesConfig } from './images.config.js';
import { MediaThreads } from './media-threads.js';

const config = z.object(imagesConfig).parse({});
const threads = new MediaThreads(config);
const files = new AudioFiles(threads);
afterAll(() => threads.close());

const me = { account: 'me' };

describe('AudioFiles', () => {
  it('measures files in threads, and leaves the caller its bytes', async () => {
    const file = mp3(100);
    expect(await files.read(file, me)).toMatchObject({ format: 'mp3', milliseconds: 2_400 });
    expect(file).toEqual(mp3(100));
  });

  it('rejects a file that cannot be read', async () => {
    const rejected = new AudioRejected('it contains no audio');
    await expect(files.read(wav(0), me)).rejects.toEqual(rejected);
  });

  it('rejects files for a while when too many are being read', async () => {
    const tight = new MediaThreads({ ...config, IMAGES_THREADS: 1, IMAGES_QUEUE_LIMIT: 0 });
    const all = Array.from({ length: 5 }, () => new AudioFiles(tight).read(mp3(10), me));
    const outcomes = await Promise.allSettled(all);
    await tight.close();
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(rejected).toHaveLength(4);
    for (const { reason } of rejected) expect(reason).toMatchObject({ retryable: true });
  });

  it('ends when its caller leaves', async () => {
    const leaving = AbortSignal.abort(new Error('left'));
    await expect(files.read(mp3(10), { ...me, signal: leaving })).rejects.toThrow('left');
  });
});
