import { z } from 'zod';
import type { EncryptionKeys } from '../messages/enclaves.js';
import type { CallOrigin, CallShare, Served, ServedBy } from './calls.js';
import type { Piece, Repetition, Repetitions, ResponseFacts } from './pieces.js';

/** A request as its client wrote it, in the form of the API of one kind of backend. */
export interface OriginalChat {
  /**
   * The text of a JSON object, in pieces of its bytes, with what this service adds and without what it
   * strips. It begins with `{`, has a member, and has neither `model` nor `stream`.
   */
  readonly body: readonly Uint8Array[];
  /** What the client asks for by `anthropic-beta`. A backend gets those that its entry allows. */
  readonly betas: readonly string[];
}

/** A chat. */
export interface ChatCall extends CallOrigin {
  /**
   * The request in the form of chat completions, from which each backend's dialect makes its own: the text of
   * a JSON object, in pieces of its bytes. It is kept as text, so that numbers beyond double precision and
   * fields that only the backend knows survive. It begins with `{`, has a member, and has no `model`, since
   * the name of the model is the backend's own.
   */
  readonly body: readonly Uint8Array[];
  /** In place of `body` for backends that have the API of Anthropic's Messages. */
  readonly original?: OriginalChat;
  /** Requests with the same key prefer the same backend. */
  readonly cacheKey?: string;
  /** Default: interactive, with the usual weight. */
  readonly share?: CallShare;
  /** For a chat whose texts are encrypted. Only backends that hold the model's key are called. */
  readonly encryption?: EncryptionKeys;
}

interface ArrivalOptions {
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
  /**
   * Offered each event that repeats an earlier piece while a read waits. If it returns true, it has used the
   * event, and the read keeps waiting: for most events of a chat this saves every promise between the two
   * connections. It must not throw.
   */
  readonly onRepetition: ((repetition: Repetition) => boolean) | undefined;
}

/** The response to a chat, as pieces, whichever dialect its backend speaks. It can be read once. */
export interface ChatResponse extends ServedBy {
  readonly facts: ResponseFacts;
  /** Undefined if each event must be read. */
  readonly repetitions: Repetitions | undefined;
  /**
   * The events of the backend, in arrays of those that arrived together, or at once if all have arrived. They
   * end where the response is complete. Throws INFERENCE_FAILED if the connection breaks before, and
   * REQUEST_TIMEOUT if the backend stalls. Ending the iteration closes the call to the backend; reading
   * slowly slows the backend.
   */
  arrivals(options: ArrivalOptions): readonly string[] | AsyncIterable<readonly string[]>;
  /** The pieces of an event. Each is read once, in order. Throws an error that the backend reports. */
  read(event: string): readonly Piece[];
}

/** What a backend says of a prompt. */
export const PromptCount = z.object({ tokens: z.int().positive() });
export type PromptCount = z.infer<typeof PromptCount>;

/**
 * Chooses a backend and calls it. Rejects with MODEL_OFFLINE if none can be reached, MODEL_AT_CAPACITY if all
 * are full, INVALID_REQUEST if the backend rejects the request, INFERENCE_FAILED, REQUEST_TIMEOUT, and
 * E2EE_ATTESTATION_STALE if no backend that responds holds the key of an encrypted request. An abort
 * of the signal closes the call to the backend at once.
 */
export abstract class Chat {
  /** Resolves when the whole response has arrived. */
  abstract complete(call: ChatCall, signal: AbortSignal): Promise<ChatResponse>;

  /**
   * Resolves when the first event has arrived that says something and is not an error, so that an error still
   * has its HTTP status.
   */
  abstract stream(call: ChatCall, signal: AbortSignal): Promise<ChatResponse>;

  /** The tokens of the prompt of a chat, as a backend counts them that can. */
  abstract count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>>;
}
