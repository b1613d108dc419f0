import type { AudioFileFormat, Backend } from '@svc/contracts/catalog';
import type {
  AudioToTranscribe,
  BackendJob,
  BackendJobStatus,
  CallFile,
  CallKind,
  EmbeddingTexts,
  EmbeddingVectors,
  ImageEdit,
  ImageOrder,
  JobCallKind,
  SpokenText,
  Transcript,
} from '@svc/contracts/inference';
import type { MediaOrder } from '@svc/contracts/ports';
import type { EnclaveReport, EnclaveSignature, EncryptionKeys } from '@svc/contracts/messages';
import type { Exchange } from '@svc/runtime';

/** The data of a call that goes into a backend's headers. */
interface CallHead {
  readonly requestId: string;
  /** The operator's key for the backend. */
  readonly key: string | undefined;
  /** The keys of an encrypted chat, which only dialects with an enclave get. */
  readonly encryption?: EncryptionKeys | undefined;
}

/** Members of a chat that differ by backend. */
interface OwnChatMembers {
  /** The name of the model at the backend. */
  readonly model: string;
  /** Separates the account's prefixes in the server's cache from those of others. */
  readonly cache_salt?: string;
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
export interface EnclaveDialect {
  attestation(model: string, nonce: string): JobRequest;
  readReport(body: string): BackendReport;
  signature(completionId: string, algorithm: string): JobRequest;
  readSignature(body: string): EnclaveSignature;
}

/** An image in a response: a file in base64, or its URL. */
export type BackendImage = { readonly base64: string } | { readonly url: string };

/** A call about a job or an enclave as HTTP. */
export interface JobRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to the URL of a backend. */
  readonly path: string;
  /** In place of those of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

/** Further calls to the server that has responded to a call. */
export interface ServerCalls {
  /** Aborted when the images are too late or no longer wanted. */
  readonly signal: AbortSignal;
  /** The body of the response. Throws BackendError for any status but 200. */
  call(request: JobRequest): Promise<Buffer>;
  /** The same, with a short deadline of its own, since it is also for the time after an abort. */
  cleanUp(request: JobRequest): Promise<Buffer>;
}

/** The response to a call about a job. */
export interface JobResponse {
  readonly status: number;
  readonly body: string;
}

/** The name and value of a member of a form. */
export type FormMember = readonly [string, string | CallFile];

/** A file to transcribe or translate. */
export interface TranscribedFile {
  readonly kind: 'transcription' | 'translation';
  readonly file: CallFile;
  readonly format: 'verbose_json' | 'json';
}

/** The files that an edit starts from. */
export interface EditedFiles {
  /** At least one. */
  readonly images: readonly CallFile[];
  /** Its transparent pixels are to be changed. */
  readonly mask?: CallFile;
}

/** How to call one kind of backend and read its responses. Readers throw `BackendError` or an `Error`. */
export interface Dialect {
  /**
   * Relative to the URL of a backend. Kinds of calls without a path are not made. Calls about jobs append to
   * theirs.
   */
  readonly paths: Readonly<Partial<Record<CallKind, string>>>;
  /**
   * The further fields of requests for media that it gets, by kind of call; for kinds that are not listed it
   * gets none. They change what is made, but neither how much of it, nor how long that takes, nor what the
   * server reads, loads or writes. They contain no prompts, since those of images must be cleaned.
   */
  readonly fields: Readonly<Partial<Record<CallKind, ReadonlySet<string>>>>;
  headers(head: CallHead): Record<string, string>;
  /** The body of a chat call, which begins with `{`, with members of its own before the others. */
  chatBody(own: OwnChatMembers, body: readonly Uint8Array[]): Uint8Array[];
  /** Checks a complete chat completion, which is passed on unchanged. */
  checkCompletion(body: string): void;
  /** Reads a chat stream up to its first event, and returns all bytes that arrived. */
  firstEvent(exchange: Exchange): Promise<readonly Buffer[]>;
  embeddingsBody(model: string, texts: EmbeddingTexts): Uint8Array[];
  /** The vectors of these texts, in order. Throws if one is missing, has another length or is not finite. */
  readEmbeddings(body: string, texts: EmbeddingTexts): EmbeddingVectors;
  /** The audio of its response is checked in the same way for all dialects. */
  speechBody(backend: Backend, text: SpokenText): Uint8Array[];
  /** The formats of audio files that it reads; default: all. */
  readonly audioFormats?: readonly AudioFileFormat[];
  transcriptionForm(backend: Backend, audio: AudioToTranscribe, file: TranscribedFile): FormMember[];
  readTranscript(body: string): Transcript;
  imageBody(backend: Backend, order: ImageOrder): Uint8Array[];
  imageEditForm(model: string, edit: ImageEdit, files: EditedFiles): FormMember[];
  upscaleBody(model: string, image: CallFile, factor: number): Uint8Array[];
  cutoutForm(model: string, image: CallFile): FormMember[];
  /** The images of a response to any of these, at least one. */
  readImages(body: Buffer): BackendImage[];
  /** In place of `readImages`, for a server that responds before it makes the images: waits for them. */
  readonly queuedImages?: (body: Buffer, server: ServerCalls) => Promise<BackendImage[]>;
  submitJob(model: string, order: MediaOrder): JobRequest;
  aboutJob(kind: Exclude<JobCallKind, 'job-submit'>, job: BackendJob): JobRequest;
  readSubmitted(response: JobResponse): BackendJob;
  readJobStatus(response: JobResponse): BackendJobStatus;
  /** For servers in an enclave. */
  readonly enclave?: EnclaveDialect;
}
