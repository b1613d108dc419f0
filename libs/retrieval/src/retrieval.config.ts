import { durationMs, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of file reading. Defaults suit a process on two cores. */
export const retrievalConfig = {
  RETRIEVAL_THREADS: whole(1, 64).default(2).describe('How many files are read at once'),
  RETRIEVAL_QUEUE_LIMIT: whole(0, 10_000)
    .default(32)
    .describe('How many files may wait to be read before more are refused'),
  RETRIEVAL_TIMEOUT_MS: durationMs.default(20_000).describe('How long reading one file may take'),
  RETRIEVAL_THREAD_HEAP_MB: whole(32, 16_384)
    .default(256)
    .describe('The most memory for objects that reading one file may take'),
  RETRIEVAL_THREAD_BUFFERS_MB: whole(32, 16_384)
    .default(512)
    .describe('The most memory for bytes, unpacked ones included, that reading one file may take'),
  RETRIEVAL_FILE_LIMIT_BYTES: whole(1, 268_435_456).default(25_000_000).describe('The most bytes of a file'),
  RETRIEVAL_TEXT_LIMIT_CHARACTERS: whole(1_000, 50_000_000)
    .default(2_000_000)
    .describe('The most characters taken from a file; the rest is cut off'),
};

export type RetrievalConfig = z.infer<z.ZodObject<typeof retrievalConfig>>;
