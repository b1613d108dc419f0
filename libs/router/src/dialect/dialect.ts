import type { CallHead, PlannedRequest } from '@svc/backend-calls';
import type { AudioFileFormat, Backend } from '@svc/contracts/catalog';
import type {
  AudioToTranscribe,
  BackendJob,
  BackendJobStatus,
  CallFile,
  EmbeddingTexts,
  EmbeddingVectors,
  ImageEdit,
  ImageOrder,
  OriginalChat,
  SpokenText,
  Transcript,
} from '@svc/contracts/inference';
import type { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import type { MediaOrder } from '@svc/contracts/ports';
import type { ResponseHeaders } from '@svc/runtime';
import type { AuthorizationKind } from '../authorization/authorizations.js';
import type { EventMeaning } from '../chat/backend-events.js';
import type { EventMaker } from '../chat/made-events.js';
import type { PieceReader } from '../chat/piece-reader.js';
import type { ModerationsDialect } from '../scores/moderations.js';
import type { RerankDialect } from '../scores/rerank-forms.js';

/**
 * How to call one kind of backend: what it can, a member each. A backend is called only for what its dialect
 * has. Readers throw `BackendError` or an `Error`.
 */
export interface Dialect {
  readonly headers: (head: CallHead) => Record<string, string>;
  /** Whether it is that of a provider, who counts requests. Its health is seen from calls only. */
  readonly isHosted?: true;
  /** How calls show who makes them, if the headers cannot. */
  readonly authorization?: AuthorizationKind;
  readonly chat?: ChatDialect;
  readonly embeddings?: EmbeddingsDialect;
  readonly rerank?: RerankDialect;
  /** By an endpoint of its own. Models may also judge in chats. */
  readonly moderations?: ModerationsDialect;
  readonly speech?: SpeechDialect;
  readonly transcriptions?: TranscriptionsDialect;
  readonly images?: ImagesDialect;
  readonly jobs?: JobsDialect;
  /** For servers in an enclave. */
  readonly enclave?: EnclaveDialect;
}

/** A call with room for further fields of a request. */
interface FurtherFields {
  /**
   * Those that the backend gets. They change what is made, but neither how much of it, nor how long that
   * takes, nor what the server reads, loads or writes. They contain no prompts, since those of images must be
   * cleaned.
   */
  readonly fields: ReadonlySet<string>;
}

/** Members of a chat that differ by backend. */
export interface OwnChatMembers {
  /** The name of the model at the backend. */
  readonly model: string;
  /** Separates the account's prefixes in the server's cache from those of others. */
  readonly cache_salt?: string;
  /** For hosted models only: how they are asked to reason. */
  readonly thinking?: 'adaptive' | 'budget';
  /** What clients may ask for by `anthropic-beta`. */
  readonly betas?: readonly string[];
}

/** How to read a response to a chat. */
export interface ChatReading {
  readonly isEncrypted: boolean;
  /** Whether the call had a request as its client wrote it. */
  readonly isOriginal: boolean;
}

export interface ChatDialect extends EventMeaning {
  /** Makes the reader of a response; default: that of OpenAI. */
  readonly reader?: (reading: ChatReading) => PieceReader;
  /** Makes the server-sent events of a stream from bytes in another form; default: they are such events. */
  readonly events?: () => EventMaker;
  /**
   * The request, with members of the backend's own, from one in the form of chat completions: the text of an
   * object with members.
   */
  readonly request: (own: OwnChatMembers, body: readonly Uint8Array[], isStream: boolean) => PlannedRequest;
  /** The request from one that a client wrote in the form of this dialect. */
  readonly passed?: (own: OwnChatMembers, original: OriginalChat, isStream: boolean) => PlannedRequest;
  /** Counts the tokens of a prompt, for `COUNTING_KINDS`. */
  readonly counting?: CountingDialect;
}

interface CountingDialect {
  /** The request, from one in the form of chat completions. */
  readonly request: (own: OwnChatMembers, body: readonly Uint8Array[]) => PlannedRequest;
  /** The member of the response that has the tokens. */
  readonly tokens: string;
}

export interface EmbeddingsDialect {
  /** The most texts in one call of a model, whatever `maxBatch` is; default: any number. */
  readonly mostTexts?: (model: string) => number;
  readonly request: (model: string, texts: EmbeddingTexts) => PlannedRequest;
  /** The vectors of these texts, in order. Throws if one is missing, has another length or is not finite. */
  readonly read: (
    body: string,
    texts: Pick<EmbeddingTexts, 'inputs' | 'dimensions'>,
    headers: ResponseHeaders,
  ) => EmbeddingVectors;
}

/** The audio of its response is checked in the same way for all dialects. */
export interface SpeechDialect extends FurtherFields {
  /** Makes the audio from a response in another form; default: its bytes are the audio. */
  readonly events?: () => EventMaker;
  readonly request: (backend: Backend, text: SpokenText) => PlannedRequest;
}

/** A file to transcribe or translate. */
export interface TranscribedFile {
  readonly kind: 'transcription' | 'translation';
  readonly file: CallFile;
  readonly format: 'verbose_json' | 'json';
}

export interface TranscriptionsDialect extends FurtherFields {
  /** The formats of audio files that it reads; default: all. */
  readonly audioFormats?: readonly AudioFileFormat[];
  readonly request: (
    backend: Backend,
    audio: AudioToTranscribe,
    transcribed: TranscribedFile,
  ) => PlannedRequest;
  readonly read: (body: string) => Transcript;
}

/** An image in a response: a file in base64, or its URL. */
export type BackendImage = { readonly base64: string } | { readonly url: string };

/** The files that an edit starts from. */
export interface EditedFiles {
  /** At least one. */
  readonly images: readonly CallFile[];
  /** Its transparent pixels are to be changed. */
  readonly mask?: CallFile;
}

/** Further calls to the server that has responded to a call. */
export interface ServerCalls {
  /** Aborted when the images are too late or no longer wanted. */
  readonly signal: AbortSignal;
  /** The body of the response. Throws BackendError for any status but 200. */
  call(request: PlannedRequest): Promise<Buffer>;
  /** The same, with a short deadline of its own, since it is also for the time after an abort. */
  cleanUp(request: PlannedRequest): Promise<Buffer>;
}

export interface MakingDialect extends FurtherFields {
  readonly request: (backend: Backend, order: ImageOrder) => PlannedRequest;
}

export interface EditingDialect extends FurtherFields {
  readonly request: (model: string, edit: ImageEdit, files: EditedFiles) => PlannedRequest;
}

export interface ImagesDialect {
  readonly make?: MakingDialect;
  readonly edit?: EditingDialect;
  readonly upscale?: (model: string, image: CallFile, factor: number) => PlannedRequest;
  readonly cutout?: (model: string, image: CallFile) => PlannedRequest;
  /** The images of a response to any of these, at least one. */
  readonly read: (body: Buffer, server: ServerCalls) => BackendImage[] | Promise<BackendImage[]>;
  /** Whether the server responds before it makes the images, so that `read` waits for them. */
  readonly isQueued?: true;
}

/** The response to a call about a job. */
export interface JobResponse {
  readonly status: number;
  readonly body: string;
}

export interface JobsDialect extends FurtherFields {
  readonly submit: (model: string, order: MediaOrder) => PlannedRequest;
  readonly status: (job: string) => PlannedRequest;
  readonly content: (job: string) => PlannedRequest;
  readonly cancel: (job: string) => PlannedRequest;
  readonly readSubmitted: (response: JobResponse) => BackendJob;
  readonly readStatus: (response: JobResponse) => BackendJobStatus;
}

/** A report of an enclave as its backend sent it. */
export interface BackendReport extends Pick<
  EnclaveReport,
  'nvidiaPayload' | 'eventLog' | 'info' | 'provider' | 'warning'
> {
  /** On secp256k1, uncompressed, in hex. Its first byte may be missing. */
  readonly publicKey: string;
  /** In hex or base64. */
  readonly quote: string;
  readonly simulated: boolean | undefined;
}

/** How to attest an enclave, and to ask for its signatures. */
interface EnclaveDialect {
  readonly attestation: (model: string, nonce: string) => PlannedRequest;
  readonly readReport: (body: string) => BackendReport;
  readonly signature: (completionId: string, algorithm: string) => PlannedRequest;
  readonly readSignature: (body: string) => EnclaveSignature;
}
