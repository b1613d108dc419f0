import { type JobCaller, ThreadPool } from '@svc/threads';
import type { AudioFile } from './audio/audio-file.js';
import type { ImageJob, ReadImage } from './image-job.js';
import type { ImagesConfig } from './images.config.js';

/**
 * The compiled thread, even if this file runs from its TypeScript source: threads load plain JavaScript only.
 */
const entry = new URL('../dist/thread.js', import.meta.url);

/** An audio file that is measured and written again. */
export interface AudioJob {
  readonly kind: 'audio';
  readonly bytes: Uint8Array;
}

export type ThreadJob = ImageJob | AudioJob;

/** The threads in which images and audio files of clients are read. */
export class MediaThreads {
  private readonly pool: ThreadPool<ThreadJob, ReadImage | AudioFile>;
  private native: Promise<unknown> | undefined;

  constructor(config: ImagesConfig) {
    this.pool = new ThreadPool(entry, {
      threads: config.IMAGES_THREADS,
      queueLimit: config.IMAGES_QUEUE_LIMIT,
      timeoutMs: config.IMAGES_TIMEOUT_MS,
      heapLimitMb: config.IMAGES_THREAD_HEAP_MB,
      buffersLimitMb: config.IMAGES_THREAD_BUFFERS_MB,
    });
  }

  async read(job: ImageJob, caller: JobCaller): Promise<ReadImage> {
    return (await this.run(job, caller)) as ReadImage;
  }

  async readAudio(job: AudioJob, caller: JobCaller): Promise<AudioFile> {
    return (await this.run(job, caller)) as AudioFile;
  }

  close(): Promise<void> {
    return this.pool.close();
  }

  private async run(job: ThreadJob, caller: JobCaller): Promise<ReadImage | AudioFile> {
    // Loaded here as well as in the threads, and before them: its native library must outlive each of them.
    await (this.native ??= import('sharp'));
    return this.pool.run(job, caller);
  }
}
