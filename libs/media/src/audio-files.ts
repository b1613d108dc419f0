import { JobFailed, type JobCaller } from '@svc/threads';
import type { AudioFile } from './audio/audio-file.js';
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

/** Measures audio files and writes them again, in threads of this process. */
export class AudioFiles {
  constructor(private readonly threads: MediaThreads) {}

  /**
   * A new file of the audio, and its length. Throws AudioRejected. Has its own deadline; an abort of the
   * signal ends it at once.
   */
  async read(bytes: Uint8Array, caller: JobCaller): Promise<AudioFile> {
    try {
      return await this.threads.readAudio({ kind: 'audio', bytes }, caller);
    } catch (error) {
      if (error instanceof JobFailed) throw new AudioRejected(error.reason, error.retryable);
      throw error;
    }
  }
}
