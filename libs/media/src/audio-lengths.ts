import { JobFailed, type JobCaller } from '@svc/threads';
import type { AudioLength } from './audio/audio-length.js';
import type { MediaThreads } from './media-threads.js';

/** Why an audio file can't be used. */
export class AudioRejected extends Error {
  /**
   * @param reason Plain words for the client, a clause without a full stop: `it contains no audio`.
   * @param retryable True if the file is not at fault: too many others are being read.
   */
  constructor(
    readonly reason: string,
    readonly retryable = false,
  ) {
    super(reason);
    this.name = 'AudioRejected';
  }
}

/** Measures audio files, in threads of this process. */
export class AudioLengths {
  constructor(private readonly threads: MediaThreads) {}

  /** Throws AudioRejected. Has its own deadline; an abort of the signal ends it at once. */
  async measure(bytes: Uint8Array, caller: JobCaller): Promise<AudioLength> {
    try {
      return await this.threads.measure({ kind: 'audio', bytes }, caller);
    } catch (error) {
      if (error instanceof JobFailed) throw new AudioRejected(error.reason, error.retryable);
      throw error;
    }
  }
}
