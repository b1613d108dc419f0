import { durationMs, neighbourUrl, whole } from '@svc/runtime';
import { z } from 'zod';

const timeoutMs = durationMs.default(20_000).describe('How long reading one file may take');
const pageTimeoutMs = durationMs.default(15_000).describe('How long reading a page may take in all');

/** Settings for files, search and pages. Defaults suit a process on two cores. */
export const retrievalConfig = {
  RETRIEVAL_THREADS: whole(1, 64).default(2).describe('How many files are read at once'),
  RETRIEVAL_QUEUE_LIMIT: whole(0, 10_000)
    .default(32)
    .describe('How many files may wait to be read before more are refused'),
  RETRIEVAL_TIMEOUT_MS: timeoutMs,
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
  RETRIEVAL_PAGE_LIMIT_BYTES: whole(1_024, 268_435_456)
    .default(8_000_000)
    .describe('The most bytes of a page that is read, PDFs and other files included'),
  RETRIEVAL_PAGE_TIMEOUT_MS: pageTimeoutMs,
  RETRIEVAL_PAGES_AT_ONCE: whole(1, 1_000)
    .default(16)
    .describe('How many pages are fetched and read at once; each may take three times its bytes of memory'),
  RETRIEVAL_HOST_PAUSE_MS: whole(0, 60_000)
    .default(250)
    .describe('The pause between two pages that are read from one host'),
  RETRIEVAL_ROBOTS: z
    .enum(['respect', 'ignore'])
    .default('respect')
    .describe('Whether pages are left unread that a robots.txt asks to leave alone'),
  RETRIEVAL_BLOCKED_HOSTS: z
    .string()
    .regex(/^([a-z\d-]+(\.[a-z\d-]+)*(,|$))*$/, 'must be lower-case host names, separated by commas')
    .default('x.com,twitter.com,reddit.com')
    .describe('Hosts, by commas, of which no page is read, nor of any host below them'),
  RETRIEVAL_BROWSER_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'A Chromium that runs the scripts of pages that say nothing without them, by its DevTools protocol, such as `http://chromium:9222`; without it they are not read',
    ),
  RETRIEVAL_BROWSER_PAGES: whole(1, 100).default(2).describe('How many pages the browser has open at once'),
  RETRIEVAL_BROWSER_SCRIPTS_MS: durationMs
    .default(6_000)
    .describe('How long the scripts of a page may go on before it is read as it is'),
  RETRIEVAL_SIMULATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where search providers of kind `simulator` without a URL of their own are'),
};

export type RetrievalConfig = z.infer<z.ZodObject<typeof retrievalConfig>>;

/** The settings of a process that uses retrieval in another process. */
export const retrievalClientConfig = {
  RETRIEVAL_URL: neighbourUrl.describe(
    'Where files are read and the web is searched: an address, or those of replicas by commas',
  ),
  RETRIEVAL_TIMEOUT_MS: timeoutMs,
  RETRIEVAL_PAGE_TIMEOUT_MS: pageTimeoutMs,
};

export type RetrievalClientConfig = z.infer<z.ZodObject<typeof retrievalClientConfig>>;
