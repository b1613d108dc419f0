import type { OriginalChat } from '@svc/contracts/inference';
import type { ChatPlan } from './chat-plan.js';
import type { PromptEdits } from './request-text.js';

/** What this service decides about a request that goes to a backend as its client wrote it. */
export interface OriginalParts extends PromptEdits {
  readonly maxTokens: number;
  /** Names of members that the catalogue lets pass. */
  readonly extraFields: readonly string[];
}

/** A request as its client wrote it, for backends that have the API of its endpoint. */
export interface OriginalRequest {
  /** The kind of these backends. */
  readonly kind: 'anthropic';
  readonly betas: readonly string[];
  /**
   * The text for the backend. It has the long strings of the request. Undefined if the request cannot be sent
   * as it is.
   */
  write(parts: OriginalParts): string | undefined;
  /** Frees the memory. From then on it writes nothing. */
  forget(): void;
}

/**
 * The original request for a call; undefined if no backend of the model takes it, or if something is added
 * that only chat completions have a place for. A promise only if it has long strings.
 */
export function originalChat(
  { model, web, encryption, text, outputTokensAtMost, choices }: ChatPlan,
  request: OriginalRequest | undefined,
): OriginalChat | undefined | Promise<OriginalChat> {
  const isTaken = model.backends.some(({ kind }) => kind === request?.kind);
  if (!request || !isTaken || web || encryption || !text.edits) return undefined;
  const maxTokens = outputTokensAtMost / choices;
  const written = request.write({ ...text.edits, maxTokens, extraFields: [...model.extraFields] });
  if (written === undefined) return undefined;
  const { betas } = request;
  const body = text.strings.bytesOf(written);
  return body instanceof Promise ? body.then((bytes) => ({ body: bytes, betas })) : { body, betas };
}
