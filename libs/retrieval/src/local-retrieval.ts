import {
  type ExtractedText,
  ExtractionFailed,
  type ImageFacts,
  ImageRejected,
  Retrieval,
  type SourceFile,
} from '@svc/contracts';
// Loaded here as well as in the threads: its native library must outlive each of them.
import 'sharp';
import { type Answer, type Job, TOO_COMPLEX } from './job/job.js';
import type { RetrievalConfig } from './retrieval.config.js';
import { ThreadFailure, ThreadPool } from './threads/thread-pool.js';

/** The compiled thread, also when this file runs from its TypeScript source: threads load plain JavaScript only. */
const entry = new URL('../dist/threads/thread.js', import.meta.url);

/** Reads files and images in threads of this process. */
export class LocalRetrieval extends Retrieval {
  readonly #pool: ThreadPool<Job, Answer>;

  constructor(private readonly config: RetrievalConfig) {
    super();
    this.#pool = new ThreadPool(entry, {
      threads: config.RETRIEVAL_THREADS,
      queueLimit: config.RETRIEVAL_QUEUE_LIMIT,
      timeoutMs: config.RETRIEVAL_TIMEOUT_MS,
      heapLimitMb: config.RETRIEVAL_THREAD_HEAP_MB,
      buffersLimitMb: config.RETRIEVAL_THREAD_BUFFERS_MB,
    });
  }

  async extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText> {
    if (file.bytes.length === 0) throw new ExtractionFailed('the file is empty');
    if (file.bytes.length > this.config.RETRIEVAL_FILE_LIMIT_BYTES)
      throw new ExtractionFailed(`the file is over ${this.#fileLimit()}`);
    const job: Job = {
      kind: 'text',
      name: file.name,
      mediaType: file.mediaType,
      bytes: file.bytes,
      textLimit: this.config.RETRIEVAL_TEXT_LIMIT_CHARACTERS,
    };
    const answer = await this.#run(job, ExtractionFailed, signal);
    if (answer.kind === 'text') return answer.value;
    throw new ExtractionFailed(answer.kind === 'refused' ? answer.reason : TOO_COMPLEX);
  }

  async inspectImage(bytes: Uint8Array, signal?: AbortSignal): Promise<ImageFacts> {
    if (bytes.length > this.config.RETRIEVAL_FILE_LIMIT_BYTES)
      throw new ImageRejected(`the image is over ${this.#fileLimit()}`);
    const job: Job = {
      kind: 'image',
      bytes,
      pixelLimit: this.config.RETRIEVAL_IMAGE_LIMIT_PIXELS,
      timeoutMs: this.config.RETRIEVAL_TIMEOUT_MS,
      memoryLimitBytes: this.config.RETRIEVAL_THREAD_BUFFERS_MB * 1_048_576,
    };
    const answer = await this.#run(job, ImageRejected, signal);
    if (answer.kind === 'image') return answer.value;
    throw new ImageRejected(answer.kind === 'refused' ? answer.reason : TOO_COMPLEX);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  #fileLimit(): string {
    return `${Math.floor(this.config.RETRIEVAL_FILE_LIMIT_BYTES / 1_048_576)} MB`;
  }

  async #run(
    job: Job,
    Failure: typeof ExtractionFailed | typeof ImageRejected,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    try {
      return await this.#pool.run(job, signal);
    } catch (error) {
      if (!(error instanceof ThreadFailure)) throw error;
      switch (error.kind) {
        case 'busy':
          throw new Failure('too many files are being read just now', true);
        case 'closed':
          throw new Failure('the service is stopping', true);
        case 'timeout':
          throw new Failure('reading it took too long');
        case 'memory':
          throw new Failure('reading it took too much memory');
        case 'crash':
          throw new Failure('it could not be read');
      }
    }
  }
}
