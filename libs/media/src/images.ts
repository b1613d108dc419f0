import assert from 'node:assert/strict';
import { JobFailed, type JobCaller } from '@svc/threads';
import type { ImageJob, ImageOutput, ReadImage } from './image-job.js';
import type { ImagesConfig } from './images.config.js';
import { MediaThreads } from './media-threads.js';

/** A PNG of 16 megapixels may have 50 MB. */
const MADE_LIMIT_BYTES = 100_000_000;

/** Why an image can't be passed to a model. */
export class ImageRejected extends Error {
  /**
   * @param reason Plain words for the client, a clause without a full stop: `the image does not decode`.
   * @param retryable True if the image is not at fault: too many others are being read.
   */
  constructor(
    readonly reason: string,
    readonly retryable = false,
  ) {
    super(reason);
    this.name = 'ImageRejected';
  }
}

/** An image file that this process made. */
export interface ConvertedImage {
  readonly bytes: Uint8Array;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** A copy of a supplied image. */
export interface ImageCopy extends ConvertedImage {
  readonly format: ReadImage['format'];
}

/** Checks and converts images, in threads of this process, so that they need not be sent elsewhere. */
export class Images {
  constructor(
    private readonly config: ImagesConfig,
    private readonly threads = new MediaThreads(config),
  ) {}

  /**
   * Decodes every pixel of an image, or of an animation's first frame, and describes it. A data URL is
   * decoded in the thread, never here. Throws ImageRejected. Has its own deadline; an abort of the signal
   * ends it at once.
   */
  read(image: string | Uint8Array, caller: JobCaller): Promise<ReadImage> {
    return this.run(typeof image === 'string' ? { url: image } : { bytes: image }, caller);
  }

  /**
   * The same, and makes a new file of an image in base64. Also throws ImageRejected for an image that shows
   * nothing: all of it is black or transparent.
   */
  async convert(base64: string, output: ImageOutput, caller: JobCaller): Promise<ConvertedImage> {
    const { file, width, height } = await this.run(
      { url: `data:;base64,${base64}`, output, bytesLimit: MADE_LIMIT_BYTES },
      caller,
    );
    assert(file, 'the thread makes a file');
    return { bytes: file, width, height };
  }

  /** The same as `read`, and makes a file that has only the pixels, upright: PNG, JPEG or WebP. */
  async copy(image: string | Uint8Array, caller: JobCaller): Promise<ImageCopy> {
    const source = typeof image === 'string' ? { url: image } : { bytes: image };
    const { file, width, height, format } = await this.run({ ...source, output: 'copy' }, caller);
    assert(file, 'the thread makes a file');
    return { bytes: file, width, height, format };
  }

  private async run(
    image: Pick<ImageJob, 'url' | 'bytes' | 'output'> & { readonly bytesLimit?: number },
    caller: JobCaller,
  ): Promise<ReadImage> {
    const job: ImageJob = {
      bytesLimit: this.config.IMAGES_LIMIT_BYTES,
      ...image,
      pixelLimit: this.config.IMAGES_LIMIT_PIXELS,
      timeoutMs: this.config.IMAGES_TIMEOUT_MS,
      memoryLimitBytes: this.config.IMAGES_THREAD_BUFFERS_MB * 1_048_576,
    };
    try {
      return await this.threads.read(job, caller);
    } catch (error) {
      if (error instanceof JobFailed) throw new ImageRejected(error.reason, error.retryable);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.threads.close();
  }
}
