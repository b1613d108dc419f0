import type { Band } from '../catalog/price-tiers.js';

/** The kinds of model calls. */
export const CALL_KINDS = [
  'chat',
  'prompt-count',
  'embeddings',
  'rerank',
  'moderation',
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

/** A file of a call. */
export interface CallFile {
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Whose call it is, and of which model. */
export interface CallOrigin {
  readonly requestId: string;
  /** The account whose share of a full backend is used. */
  readonly accountId: string;
  /** The catalogue's id. */
  readonly model: string;
}

/** How a call waits for a backend that is full: as one of a tier of service. */
export interface CallShare {
  readonly band: Band;
  /** The share of its account, compared to 1. */
  readonly weight: number;
}

/** The backend that responded, and the number of failed calls before. */
export interface ServedBy {
  readonly backend: string;
  readonly retries: number;
  /** For chats: the kind of backend in whose dialect the response is; default: that of OpenAI. */
  readonly dialect?: string;
  /** The media type of a binary response, which its first bytes confirm. */
  readonly contentType?: string;
  /**
   * For calls of blockchain nodes: a block (on Solana a slot) that is final at every node of the network,
   * including the one that responded. Absent if that is not known of each.
   */
  readonly finalizedBlock?: number;
}

/** What a backend has made, as its dialect was read. */
export interface Served<Result> extends ServedBy {
  readonly result: Result;
}
