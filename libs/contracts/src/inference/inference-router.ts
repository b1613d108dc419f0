import { z } from 'zod';
import { SPEECH_FORMATS } from '../catalog/audio-models.js';
import type { EncryptionKeys } from '../messages/enclaves.js';

/** The kinds of model calls. */
export const CALL_KINDS = [
  'chat',
  'embeddings',
  'speech',
  'transcription',
  'translation',
  'image',
  'image-edit',
  'image-upscale',
  'image-cutout',
  'rpc',
  'rpc-send',
  'job-submit',
  'job-status',
  'job-content',
  'job-cancel',
  'tee-attestation',
  'tee-signature',
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** The kinds of calls about a job that makes media. */
export type JobCallKind = Extract<CallKind, `job-${string}`>;

/**
 * Whether a call must not reach two backends: another one is called only if the previous one certainly has
 * not accepted it.
 */
export const isMadeOnce = (kind: CallKind | undefined): boolean =>
  kind === 'job-submit' || kind === 'rpc-send';

/** The body of an embeddings call. */
export const EmbeddingTexts = z.object({
  inputs: z.array(z.string()).min(1),
  /** The length of the vectors. */
  dimensions: z.int().positive(),
  /** Whether that length must be sent to the backend because it is not the model's default. */
  isCustom: z.boolean(),
  /** Further members for the backend. Those above take precedence. Older processes send none. */
  others: z.record(z.string(), z.unknown()).default({}),
});
export type EmbeddingTexts = z.infer<typeof EmbeddingTexts>;

/** The body of an embeddings completion. */
export const EmbeddingVectors = z.object({
  /**
   * For each text, in order: 32-bit floats, little-endian, in base64. All are finite and of the requested
   * length.
   */
  vectors: z.array(z.string()),
  /** The tokens of all texts, if the backend counted them. */
  promptTokens: z.int().nonnegative().optional(),
});
export type EmbeddingVectors = z.infer<typeof EmbeddingVectors>;

/** The body of a speech call. */
export const SpokenText = z.object({
  input: z.string().min(1),
  voice: z.string().min(1),
  format: z.enum(SPEECH_FORMATS),
  /** Whether the caller reads the audio while it is made. */
  isStreamed: z.boolean(),
  speed: z.number().optional(),
  language: z.string().optional(),
  /** How to speak, in words. */
  instructions: z.string().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  /** Further members for the backend. Those above take precedence. */
  others: z.record(z.string(), z.unknown()),
});
export type SpokenText = z.infer<typeof SpokenText>;

const Pixels = z.int().positive();

/** The body of an image call. */
export const ImageOrder = z.object({
  prompt: z.string().min(1),
  negativePrompt: z.string().optional(),
  /** How many images. */
  count: z.int().positive(),
  width: Pixels,
  height: Pixels,
  quality: z.string().optional(),
  steps: z.int().positive().optional(),
  /** How closely the image follows the prompt. */
  guidance: z.number().optional(),
  /** Of the first image. */
  seed: z.int().optional(),
  /** Further members for backends whose API has room for them. Those above take precedence. */
  others: z.record(z.string(), z.unknown()),
});
export type ImageOrder = z.infer<typeof ImageOrder>;

/** The body of a call to edit pictures, which are the files of the call. */
export const ImageEdit = ImageOrder.pick({
  prompt: true,
  count: true,
  width: true,
  height: true,
  quality: true,
  others: true,
}).extend({
  /** Whether the last file is a mask: its transparent pixels are to be changed. */
  masked: z.boolean(),
});
export type ImageEdit = z.infer<typeof ImageEdit>;

/** The body of a call to enlarge its only file, a picture, or to remove the background of it. */
export const PictureChange = z.object({
  /** How many results. */
  count: z.int().positive(),
  /** How many times as wide and as high. Required to enlarge. */
  factor: z.number().min(1).max(4).optional(),
});
export type PictureChange = z.infer<typeof PictureChange>;

/** The body of a completion for images, whether made or changed. */
export const MadeImages = z.object({
  /**
   * Image files in base64, at least one and at most as many as ordered. Their first bytes are those of an
   * image; nothing else is known of them.
   */
  images: z.array(z.string()).min(1),
});
export type MadeImages = z.infer<typeof MadeImages>;

/** A file of a call. */
export interface CallFile {
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** The body of a call to transcribe or translate the only file of the call. */
export const AudioToTranscribe = z.object({
  /** The language that is spoken, as an ISO 639-1 code. */
  language: z.string().optional(),
  /** Text that guides the style, or that came before. */
  prompt: z.string().optional(),
  temperature: z.number().optional(),
  timestamps: z.array(z.enum(['word', 'segment'])),
  /** Further members for the backend. Those above take precedence. */
  others: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});
export type AudioToTranscribe = z.infer<typeof AudioToTranscribe>;

const Seconds = z.number().nonnegative();
const Span = { start: Seconds, end: Seconds };

/** The body of a transcription completion. */
export const Transcript = z.object({
  text: z.string(),
  language: z.string().optional(),
  /** The length of the audio as the backend measured it. */
  seconds: Seconds.optional(),
  /** Without members that only its decoder uses. */
  segments: z.array(
    z.object({
      ...Span,
      text: z.string(),
      temperature: z.number().optional(),
      avg_logprob: z.number().optional(),
      compression_ratio: z.number().optional(),
      no_speech_prob: z.number().optional(),
    }),
  ),
  words: z.array(z.object({ ...Span, word: z.string() })),
});
export type Transcript = z.infer<typeof Transcript>;

export interface InferenceCall {
  /** Default: chat. */
  readonly kind?: CallKind;
  readonly requestId: string;
  /** The account whose share of a full backend is used. */
  readonly accountId: string;
  /** The catalogue's id. */
  readonly model: string;
  /**
   * The JSON text of an object for the backend, in pieces of its bytes; it begins with `{` and has a member.
   * It has no `model`: the router inserts the backend's own name. For embeddings it is the JSON of
   * `EmbeddingTexts`, for speech that of `SpokenText`, for transcriptions and translations that of
   * `AudioToTranscribe`, for images that of `ImageOrder`, `ImageEdit` or `PictureChange`, for jobs
   * that of `MediaOrder` or `BackendJob`, for enclaves that of `AttestationCall` or `SignatureCall`: the
   * router translates them. For calls of blockchain nodes it is the JSON-RPC request, as it is sent.
   */
  readonly body: readonly Uint8Array[];
  readonly files?: readonly CallFile[];
  /** The name of the only backend that may be called: the one that has the job. */
  readonly backend?: string;
  /** The name of a backend that is not to be called. */
  readonly exceptBackend?: string;
  /** Requests with the same key prefer the same backend. */
  readonly cacheKey?: string;
  /** For a chat whose texts are encrypted. Only backends that hold the model's key are called. */
  readonly encryption?: EncryptionKeys;
}

/** The backend that responded, and the number of failed calls before. */
export interface ServedBy {
  readonly backend: string;
  readonly retries: number;
  /** The media type of a binary response, which its first bytes confirm. */
  readonly contentType?: string;
  /**
   * For calls of blockchain nodes: a block (on Solana a slot) that is final at every node of the network,
   * including the one that responded. Absent if that is not known of each.
   */
  readonly finalizedBlock?: number;
}

/**
 * A complete response: for chat as the backend wrote it, for embeddings the JSON of `EmbeddingVectors`, for
 * transcriptions and translations that of `Transcript`, for images that of `MadeImages`, for jobs that of
 * `BackendJob` or `BackendJobStatus`, for enclaves that of `EnclaveReport` or `EnclaveSignature`.
 */
export interface Completion extends ServedBy {
  readonly body: string;
}

/** A streamed response, as the backend writes it: the server-sent events of a chat, or a file. */
export interface ChunkStream extends ServedBy {
  /**
   * Its bytes, cut anywhere; bytes that arrived together are in one array, which is never empty. They end
   * where the backend ends them; events may end without `[DONE]`. Throws INFERENCE_FAILED when
   * the connection breaks, REQUEST_TIMEOUT when the backend stalls. Ending the iteration closes the call to
   * the backend. Reading slowly slows the backend.
   */
  readonly bytes: StreamedBytes;
}

export interface StreamedBytes extends AsyncIterable<readonly Uint8Array[]> {
  /**
   * From now on, bytes that arrive while a read waits are offered to `take`. If it returns true, it has used
   * them, and the read keeps waiting: for most chunks of a chat this saves every promise between the two
   * connections. It must not throw. Absent where bytes are only read.
   */
  offerTo?(take: (part: Buffer) => boolean): void;
}

/**
 * Chooses a backend and calls it. Rejects with MODEL_OFFLINE if none can be reached, MODEL_AT_CAPACITY if all
 * are full, INVALID_REQUEST if the backend rejects the request, INFERENCE_FAILED, REQUEST_TIMEOUT, and
 * E2EE_ATTESTATION_STALE if no backend that responds holds the key of an encrypted request. An abort
 * of the signal closes the call to the backend at once.
 *
 * A call of a kind that is made once is sent to another backend only if the previous one certainly has not
 * accepted it: after INFERENCE_FAILED or REQUEST_TIMEOUT, a backend may have it.
 */
export abstract class InferenceRouter {
  /** Resolves with the complete response to a call of any kind but `speech` and `job-content`. */
  abstract complete(call: InferenceCall, signal: AbortSignal): Promise<Completion>;

  /**
   * Resolves when the first event of a chat, or the first bytes of a file, have arrived and are not an error,
   * so that an error still has its HTTP status. For calls of kind `chat`, `speech` or `job-content`.
   */
  abstract stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream>;
}
