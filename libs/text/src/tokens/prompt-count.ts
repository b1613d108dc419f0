import type { ChatRequest } from '@svc/api/chat';
import type { Tokenizer } from './tokenizer.js';
import { promptBytes, promptTexts, tokensBesideTexts } from './tokens.js';

/** The most characters of a prompt to count. A longer prompt is estimated. */
const COUNTED_CHARACTERS = 131_072;
/** The most bytes of a text of this length. */
const COUNTED_BYTES = COUNTED_CHARACTERS * 3;

/**
 * Returns a function that counts a prompt with the model's tokenizer, or estimates it if the model has no
 * tokenizer or the prompt is too long.
 */
export function promptCount(
  request: ChatRequest,
  estimate: number,
  tokenizer: Tokenizer | undefined,
): () => Promise<number> {
  // Keeps only the texts during the response, and not the rest of the request.
  const texts = tokenizer && promptBytes(request) <= COUNTED_BYTES ? promptTexts(request) : undefined;
  const characters = texts?.reduce((sum, text) => sum + text.length, 0) ?? 0;
  if (!tokenizer || !texts || characters > COUNTED_CHARACTERS) return () => Promise.resolve(estimate);
  const besideTexts = tokensBesideTexts(request);
  return async () => besideTexts + (await tokenizer.count(texts));
}
