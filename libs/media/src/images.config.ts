import { whole, durationMs } from '@svc/runtime';
import { z } from 'zod';

/** Settings for reading images. Defaults suit a process on two cores. */
export const imagesConfig = {
  IMAGES_THREADS: whole(1, 64).default(2).describe('How many images are read at once'),
  IMAGES_QUEUE_LIMIT: whole(0, 10_000)
    .default(64)
    .describe('How many images may wait to be read before more are refused'),
  IMAGES_TIMEOUT_MS: durationMs.default(20_000).describe('How long reading one image may take'),
  IMAGES_THREAD_HEAP_MB: whole(32, 16_384)
    .default(256)
    .describe('The most memory for objects that reading one image may take'),
  IMAGES_THREAD_BUFFERS_MB: whole(32, 16_384)
    .default(512)
    .describe('The most memory for bytes, unpacked ones included, that reading one image may take'),
  IMAGES_LIMIT_BYTES: whole(1, 268_435_456)
    .default(25_000_000)
    .describe('The most bytes of an image, decoded'),
  IMAGES_LIMIT_PIXELS: whole(4_096, 1_000_000_000)
    .default(50_000_000)
    .describe('The most pixels of an image: each may take 8 bytes of memory in every thread that reads one'),
};

export type ImagesConfig = z.infer<z.ZodObject<typeof imagesConfig>>;
