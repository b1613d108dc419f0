import { SPEECH_MEDIA_TYPES } from '@svc/contracts/catalog';
import { type ChunkStream, Speech, type SpeechCall } from '@svc/contracts/inference';
import { bytesOf, passing } from './call-body.js';
import { firstAudio } from './first-audio.js';
import type { ModelCalls } from './model-calls.js';

/** Calls of models that speak. */
export class LocalSpeech extends Speech {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  override async speak({ text, ...origin }: SpeechCall, signal: AbortSignal): Promise<ChunkStream> {
    const call = { ...origin, kind: 'speech' as const, body: () => bytesOf(text) };
    const pass = passing(call.model, this.calls.catalog);
    const stream = await this.calls.streamed(
      call,
      signal,
      ({ speech }, { backend }) =>
        speech && {
          request: () => speech.request(backend, { ...text, others: pass(text.others, speech) }),
          events: speech.events,
          first: (source, exchange) => firstAudio(exchange, text.format, source),
        },
    );
    return { ...stream, contentType: SPEECH_MEDIA_TYPES[text.format] };
  }
}
