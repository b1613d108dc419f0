import type { Backend, CallKind, EmbeddingTexts, EmbeddingVectors } from '@svc/contracts';
import type { Exchange } from '@svc/runtime';
import { openai } from './openai.js';

/** What a backend has to know of a call beside its body. */
interface CallHead {
  readonly requestId: string;
  /** The backend's key for the operator. */
  readonly key: string | undefined;
}

/** How one kind of backend is called, and how its responses are read. Readers throw `BackendError` or an `Error`. */
export interface Dialect {
  /** Below the URL of a backend. */
  readonly paths: Readonly<Record<CallKind, string>>;
  headers(head: CallHead): Record<string, string>;
  /** A call of chat, whose body begins with `{`, for the model of this name. */
  chatBody(model: string, body: readonly Uint8Array[]): Uint8Array[];
  /** Checks a whole completion of chat, which is passed on as it stands. */
  checkCompletion(body: string): void;
  /** Reads a stream of chat up to its first event, and returns all bytes that came. */
  firstEvent(exchange: Exchange): Promise<readonly Buffer[]>;
  embeddingsBody(model: string, texts: EmbeddingTexts): Uint8Array[];
  /** The vectors for these texts, in their order. Throws where one is missing, has another length or is not finite. */
  readEmbeddings(body: string, texts: EmbeddingTexts): EmbeddingVectors;
}

export function dialectOf({ kind }: Backend): Dialect {
  switch (kind) {
    case 'openai':
    case 'simulator':
      return openai;
  }
}
