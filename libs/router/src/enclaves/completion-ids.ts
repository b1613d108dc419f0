import { uuidOf } from '@svc/runtime';
import { LRUCache } from 'lru-cache';

/** Enclaves keep signatures for this time. */
const KEPT_MS = 1_200_000;
const MOST_KEPT = 10_000;

/** The id is in the first event. */
const ID = /"id"\s*:\s*"([^"\\]{1,200})"/;

interface EncryptedCompletion {
  /** The name of its backend; undefined if any of the model may have it. */
  readonly backend?: string;
  /** Its id at the backend. */
  readonly id: string;
}

/**
 * The encrypted completions of this process, by the id of their request. A signature is found by the
 * backend's own id.
 */
export class CompletionIds {
  private readonly known = new LRUCache<string, EncryptedCompletion>({ max: MOST_KEPT, ttl: KEPT_MS });

  /** Keeps the id in the first bytes of a response. */
  keep(requestId: string, backend: string, bytes: readonly Buffer[]): void {
    const id = ID.exec(Buffer.concat(bytes).toString('latin1'))?.[1];
    if (id !== undefined) this.known.set(requestId, { backend, id });
  }

  /** Those of other processes have the id that vLLM makes from `X-Request-ID`, unless a proxy removes it. */
  find(requestId: string): EncryptedCompletion {
    return this.known.get(requestId) ?? { id: `chatcmpl-${uuidOf(requestId)}` };
  }
}
