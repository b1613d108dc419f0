import type { Catalog, TranscriptionModel } from '@svc/catalog';
import { AudioToTranscribe, type Transcript } from '@svc/contracts/inference';
import type { Caller } from '@svc/contracts/ports';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import type { FormFile } from '@svc/api/route';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { TranscriptionRequest, type TranslationRequest } from '@svc/api/audio';
import { unknownFieldsOf } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';

/** A request to transcribe or translate a file. Only the former has a language. */
export type AudioRequest = TranslationRequest & Pick<TranscriptionRequest, 'language'>;

/** The plan for a file. */
export interface TranscriptionPlan {
  readonly sale: ModelSale<TranscriptionModel>;
  readonly audio: AudioToTranscribe;
  readonly file: FormFile;
}

const othersOf = unknownFieldsOf(TranscriptionRequest.shape);

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * INVALID_REQUEST.
 */
export function planTranscription(
  request: AudioRequest,
  caller: Caller,
  catalog: Catalog,
): TranscriptionPlan {
  const sale = sellModel(request.model, catalog.ofType('asr'), { caller, catalog });
  const { file, language, prompt, temperature } = request;
  const audio = AudioToTranscribe.parse({
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(temperature !== undefined && { temperature }),
    timestamps: timesOf(request),
    others: othersOf(request),
  });
  return { sale, audio, file };
}

/** The times that the response has. Those of words are requested only if needed, since they cost time. */
function timesOf({
  response_format: format,
  timestamps,
  timestamp_granularities: times,
}: AudioRequest): AudioToTranscribe['timestamps'] {
  const hasWords =
    format === 'json' ? timestamps === true : format === 'verbose_json' && times.includes('word');
  return hasWords ? ['word', 'segment'] : ['segment'];
}

/** Refuses INVALID_REQUEST for audio that is longer than the model takes. */
export function refuseLong({ id, maxSeconds }: TranscriptionModel, milliseconds: number): void {
  if (milliseconds <= maxSeconds * 1_000) return;
  const message = `${id} takes audio of at most ${maxSeconds} seconds.`;
  throw invalidRequest([{ code: 'too_big', path: ['file'], message }]);
}

/** The price of transcribing audio. */
export function audioLine({ id, audioNano }: TranscriptionModel, milliseconds: number): ChargeLine {
  const price = { sku: `${id}-asr-second`, unit: 'millisecond', priceNanoPerMillion: audioNano } as const;
  return chargeLine(price, milliseconds);
}

/** Backends round to seconds, skip silence, and count what decoders pad. */
const LEAST = 0.5;
const MOST = 1.05;
const MARGIN_MS = 2_000;

/** Models work in windows of this length, and the last segment may end with its window. */
const WINDOW_MS = 30_000;

/** More than anybody says: characters of a second, and what a model may invent in a window. */
const CHARACTERS_PER_SECOND = 100;
const INVENTED_CHARACTERS = 4_000;

/** Why the length that was measured may be wrong. Only `shorter` may be the backend's way of counting. */
export type LengthDoubt = 'shorter' | 'longer' | 'text';

/** Why a transcript can't be that of audio of this length: its length, its times or its text. */
export function doubtOf(
  { text, segments, words }: Pick<Transcript, 'text' | 'segments' | 'words'>,
  {
    measuredMs,
    reportedMs = measuredMs,
  }: { readonly measuredMs: number; readonly reportedMs?: number | undefined },
): LengthDoubt | undefined {
  const mostMs = measuredMs * MOST + MARGIN_MS;
  const isBeyond = ({ end }: { readonly end: number }): boolean => end * 1_000 > mostMs + WINDOW_MS;
  if (reportedMs > mostMs || segments.some(isBeyond) || words.some(isBeyond)) return 'longer';
  if (text.length > (measuredMs / 1_000) * CHARACTERS_PER_SECOND + INVENTED_CHARACTERS) return 'text';
  return reportedMs < measuredMs * LEAST ? 'shorter' : undefined;
}

/** The charged length: the reported one, if it is neither doubtful nor more than was measured. */
export function chargedMs(measuredMs: number, reportedMs: number | undefined): number {
  if (reportedMs === undefined || reportedMs < measuredMs * LEAST) return measuredMs;
  return Math.min(measuredMs, reportedMs);
}

/** The refusal of a file in which a backend finds more audio than was measured. */
export function longerThanMeasured(measuredMs: number): Problem {
  const message = `The model finds more audio in this file than the ${measuredMs / 1_000} seconds that were measured. Convert it to WAV or FLAC.`;
  return invalidRequest([{ code: 'custom', path: ['file'], message }]);
}
