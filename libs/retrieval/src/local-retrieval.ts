import assert from 'node:assert/strict';
import { type ExtractedText, ExtractionFailed, Retrieval, type SourceFile } from '@svc/contracts/ports';
import { type JobCaller, JobFailed, ThreadPool } from '@svc/threads';
import type { TextJob } from './documents/extract-text.js';
import type { PageReader } from './pages/local-web-pages.js';
import type { PageJob, PageMarkdown } from './pages/page-markdown.js';
import type { RetrievalConfig } from './retrieval.config.js';

/**
 * The compiled thread, even if this file runs from its TypeScript source: threads load plain JavaScript only.
 */
const entry = new URL('../dist/thread.js', import.meta.url);

/** Reads files and pages in threads of this process. */
export class LocalRetrieval extends Retrieval implements PageReader {
  private readonly pool: ThreadPool<TextJob | PageJob, ExtractedText | PageMarkdown>;

  constructor(private readonly config: RetrievalConfig) {
    super();
    this.pool = new ThreadPool(entry, {
      threads: config.RETRIEVAL_THREADS,
      queueLimit: config.RETRIEVAL_QUEUE_LIMIT,
      timeoutMs: config.RETRIEVAL_TIMEOUT_MS,
      heapLimitMb: config.RETRIEVAL_THREAD_HEAP_MB,
      buffersLimitMb: config.RETRIEVAL_THREAD_BUFFERS_MB,
    });
  }

  async extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText> {
    const { accountId: account, name, mediaType, bytes } = file;
    const { RETRIEVAL_FILE_LIMIT_BYTES: limit, RETRIEVAL_TEXT_LIMIT_CHARACTERS: textLimit } = this.config;
    if (bytes.length === 0) throw new ExtractionFailed('the file is empty');
    if (bytes.length > limit)
      throw new ExtractionFailed(`the file is over ${Math.floor(limit / 1_000_000)} MB`);
    try {
      const read = await this.pool.run({ name, mediaType, bytes, textLimit }, { account, signal });
      assert('kind' in read, 'a file was read');
      return read;
    } catch (error) {
      if (error instanceof JobFailed) throw new ExtractionFailed(error.reason, error.retryable);
      throw error;
    }
  }

  /** Throws JobFailed, or the signal's reason. */
  async readPage(job: PageJob, reading: JobCaller): Promise<PageMarkdown> {
    const read = await this.pool.run(job, reading);
    assert('title' in read, 'a page was read');
    return read;
  }

  async close(): Promise<void> {
    await this.pool.close();
  }
}
