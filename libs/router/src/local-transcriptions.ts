import {
  type Served,
  type Transcript,
  type TranscriptionCall,
  Transcriptions,
} from '@svc/contracts/inference';
import type { BackendCalls } from './backend-calls.js';
import { bytesOf, passing } from './backends/call-body.js';
import {
  isRefusedFormat,
  readsAudio,
  transcriptionModes,
  unreadable,
} from './backends/transcription-call.js';
import type { TranscribedFile } from './dialects/dialect.js';

/** Calls of models that transcribe. */
export class LocalTranscriptions extends Transcriptions {
  constructor(private readonly calls: BackendCalls) {
    super();
  }

  /**
   * Requests the verbose response, which has the length and the times of words. Some servers have only the
   * plain one, and refuse the other by name.
   */
  override async transcribe(call: TranscriptionCall, signal: AbortSignal): Promise<Served<Transcript>> {
    const { catalog, pool, settings } = this.calls;
    const { audio, file, ...routed } = call;
    const backends = pool.candidates(catalog.backendsOf(call.model));
    if (backends.length > 0 && !backends.some((live) => readsAudio(live, file))) throw unreadable(file);
    const modeIn = transcriptionModes(call, settings, passing(call, catalog));
    const body = (): Uint8Array[] => bytesOf(audio);
    const inFormat = (format: TranscribedFile['format']): Promise<Served<Transcript>> =>
      this.calls.firstAvailable({ ...routed, body }, signal, modeIn(format));
    return inFormat('verbose_json').catch((error: unknown) => {
      if (!isRefusedFormat(error)) throw error;
      return inFormat('json');
    });
  }
}
