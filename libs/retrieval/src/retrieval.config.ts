import { durationMs, neighbourUrl, whole } from '@svc/runtime';
import { z } from 'zod';

const timeoutMs = durationMs.default(20_000).describe('How long reading a file may take');
const pageTimeoutMs = durationMs.default(15_000).describe('How long reading a web page may take in total');

/** Settings for files, search and pages. Defaults suit a process on two cores. */
export const retrievalConfig = {
  RETRIEVAL_THREADS: whole(1, 64).default(2).describe('The number of files that are read in parallel'),
  RETRIEVAL_QUEUE_LIMIT: whole(0, 10_000)
    .default(32)
    .describe('The maximum number of files that wait to be read; further ones are rejected'),
  RETRIEVAL_TIMEOUT_MS: timeoutMs,
  RETRIEVAL_THREAD_HEAP_MB: whole(32, 16_384)
    .default(256)
    .describe('The maximum heap memory for reading a file'),
  RETRIEVAL_THREAD_BUFFERS_MB: whole(32, 16_384)
    .default(512)
    .describe('The maximum buffer memory for reading a file, including uncompressed data'),
  RETRIEVAL_FILE_LIMIT_BYTES: whole(1, 268_435_456)
    .default(25_000_000)
    .describe('The maximum size of a file'),
  RETRIEVAL_TEXT_LIMIT_CHARACTERS: whole(1_000, 50_000_000)
    .default(2_000_000)
    .describe('The maximum number of characters extracted from a file; the rest is cut off'),
  RETRIEVAL_PAGE_LIMIT_BYTES: whole(1_024, 268_435_456)
    .default(8_000_000)
    .describe('The maximum size of a web page, including PDFs and other files'),
  RETRIEVAL_PAGE_TIMEOUT_MS: pageTimeoutMs,
  RETRIEVAL_PAGES_AT_ONCE: whole(1, 1_000)
    .default(16)
    .describe(
      'The number of web pages that are fetched and read in parallel. Each may take three times its size in memory',
    ),
  RETRIEVAL_HOST_PAUSE_MS: whole(0, 60_000)
    .default(250)
    .describe('The pause between two requests to the same host'),
  RETRIEVAL_ROBOTS: z
    .enum(['respect', 'ignore'])
    .default('respect')
    .describe('Whether to respect robots.txt'),
  RETRIEVAL_BLOCKED_HOSTS: z
    .string()
    .regex(/^([a-z\d-]+(\.[a-z\d-]+)*(,|$))*$/, 'must be lower-case host names, separated by commas')
    .default('x.com,twitter.com,reddit.com')
    .describe('Hosts whose pages are not read, including those of their subdomains, separated by commas'),
  RETRIEVAL_BROWSER_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The DevTools URL of a Chromium that renders pages which have no text without JavaScript, such as `http://chromium:9222`; if unset, such pages are not read',
    ),
  RETRIEVAL_BROWSER_PAGES: whole(1, 100)
    .default(2)
    .describe('The maximum number of pages open in the browser'),
  RETRIEVAL_BROWSER_SCRIPTS_MS: durationMs
    .default(6_000)
    .describe('How long the scripts of a page may run before the page is read in its current state'),
  RETRIEVAL_SIMULATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The URL of search providers of kind `simulator` that have no URL of their own'),
};

export type RetrievalConfig = z.infer<z.ZodObject<typeof retrievalConfig>>;

/** The settings of a process that uses retrieval in another process. */
export const retrievalClientConfig = {
  RETRIEVAL_URL: neighbourUrl.describe(
    'The URL of the retrieval worker, which reads files and searches the web; those of several replicas are separated by commas',
  ),
  RETRIEVAL_TIMEOUT_MS: timeoutMs,
  RETRIEVAL_PAGE_TIMEOUT_MS: pageTimeoutMs,
};

export type RetrievalClientConfig = z.infer<z.ZodObject<typeof retrievalClientConfig>>;
