import {
  type Served,
  type Transcript,
  type TranscriptionCall,
  Transcriptions,
} from '@svc/contracts/inference';
import { bytesOf, passing } from './call-body.js';
import type { ModelCalls } from './model-calls.js';
import { isRefusedFormat, readsAudio, unreadable } from './transcription-call.js';
import type { TranscribedFile } from '../dialect/dialect.js';
import { dialectOf } from '../dialects/dialects.js';

/** Calls of models that transcribe. */
export class LocalTranscriptions extends Transcriptions {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  /**
   * Requests the verbose response, which has the length and the times of words. Some servers have only the
   * plain one, and refuse the other by name.
   */
  override async transcribe(call: TranscriptionCall, signal: AbortSignal): Promise<Served<Transcript>> {
    const { catalog, backends } = this.calls;
    const live = backends.pool.candidates(catalog.backendsOf(call.model));
    if (live.length > 0 && !live.some((each) => readsAudio(dialectOf(each.backend), each, call.file)))
      throw unreadable(call.file);
    return this.inFormat('verbose_json', call, signal).catch((error: unknown) => {
      if (!isRefusedFormat(error)) throw error;
      return this.inFormat('json', call, signal);
    });
  }

  private inFormat(
    format: TranscribedFile['format'],
    { audio, file, ...call }: TranscriptionCall,
    signal: AbortSignal,
  ): Promise<Served<Transcript>> {
    const { catalog, settings } = this.calls;
    const { ROUTER_TRANSCRIPTION_TIMEOUT_MS: limitMs, ROUTER_RESPONSE_LIMIT_BYTES: limitBytes } = settings;
    const pass = passing(call.model, catalog);
    return this.calls.first({ ...call, body: () => bytesOf(audio) }, signal, {
      deadlineMs: limitMs,
      pauseMs: limitMs,
      isStream: false,
      at: (dialect, live) => {
        const { transcriptions } = dialect;
        if (!transcriptions || !readsAudio(dialect, live, file)) return undefined;
        return {
          request: () => {
            const passed = { ...audio, others: pass(audio.others, transcriptions) };
            return transcriptions.request(live.backend, passed, { kind: call.kind, file, format });
          },
          take: async (exchange) => ({ result: transcriptions.read(await exchange.text(limitBytes)) }),
        };
      },
    });
  }
}
