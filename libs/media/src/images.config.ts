import { whole, durationMs } from '@svc/runtime';
import { z } from 'zod';

/** Settings for reading images. Defaults suit a process on two cores. */
export const imagesConfig = {
  IMAGES_THREADS: whole(1, 64).default(2).describe('The number of images that are decoded in parallel'),
  IMAGES_QUEUE_LIMIT: whole(0, 10_000)
    .default(64)
    .describe('The maximum number of images that wait to be decoded; further ones are rejected'),
  IMAGES_TIMEOUT_MS: durationMs.default(20_000).describe('How long decoding an image may take'),
  IMAGES_THREAD_HEAP_MB: whole(32, 16_384)
    .default(256)
    .describe('The maximum heap memory for decoding an image'),
  IMAGES_THREAD_BUFFERS_MB: whole(32, 16_384)
    .default(512)
    .describe('The maximum buffer memory for decoding an image, including uncompressed data'),
  IMAGES_LIMIT_BYTES: whole(1, 268_435_456)
    .default(25_000_000)
    .describe('The maximum size of an image file, after base64 decoding'),
  IMAGES_LIMIT_PIXELS: whole(4_096, 1_000_000_000)
    .default(50_000_000)
    .describe(
      'The maximum number of pixels of an image. Each may take 8 bytes of memory in each decoding thread',
    ),
};

export type ImagesConfig = z.infer<z.ZodObject<typeof imagesConfig>>;
