import type { EncryptionKeys } from '../messages/enclaves.js';
import type { OriginalChat } from './chat.js';
import type { CallFile, CallKind, CallOrigin, CallShare, ServedBy } from './calls.js';

/** A call as it is sent to other processes. */
export interface WireCall extends CallOrigin {
  /** Default: chat. */
  readonly kind?: CallKind;
  /**
   * The JSON text of an object for the backend, in pieces of its bytes; it begins with `{` and has a member.
   * It has no `model`: the router inserts the backend's own name. For all kinds but chats, counts of their
   * prompts and calls of blockchain nodes, which are passed on as they are, it is the JSON of what the kind's
   * port takes.
   */
  readonly body: readonly Uint8Array[];
  readonly files?: readonly CallFile[];
  /** The name of the only backend that may be called: the one that has the job. */
  readonly backend?: string;
  /** The name of a backend that is not to be called. */
  readonly exceptBackend?: string;
  /** Requests with the same key prefer the same backend. */
  readonly cacheKey?: string;
  /** Default: interactive, with the usual weight. */
  readonly share?: CallShare;
  /** For a chat whose texts are encrypted. Only backends that hold the model's key are called. */
  readonly encryption?: EncryptionKeys;
  /** For a chat: the request as its client wrote it. */
  readonly original?: OriginalChat;
}

/**
 * A complete response: for chats and blockchain nodes as the backend wrote it, for all others the JSON of
 * what the kind's port returns.
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
