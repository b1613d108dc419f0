import type { ChatRequest } from '@svc/contracts';
import type { Tokenizer } from './tokenizer.js';
import { promptBytes, promptTexts, tokensBesideTexts } from './tokens.js';

/** Characters of a prompt that are counted. A longer one is estimated. */
const COUNTED_CHARACTERS = 131_072;
/** No text of so many characters has more bytes. */
const COUNTED_BYTES = COUNTED_CHARACTERS * 3;

/** Counts a prompt when asked: its texts by the model's own vocabulary, where there is one and they are not too long. */
export function promptCount(
  request: ChatRequest,
  estimate: number,
  tokenizer: Tokenizer | undefined,
): () => Promise<number> {
  // Only the texts are kept while an answer runs, and not what else was sent.
  const texts = tokenizer && promptBytes(request) <= COUNTED_BYTES ? promptTexts(request) : undefined;
  const characters = texts?.reduce((sum, text) => sum + text.length, 0) ?? 0;
  if (!tokenizer || !texts || characters > COUNTED_CHARACTERS) return () => Promise.resolve(estimate);
  const besideTexts = tokensBesideTexts(request);
  return async () => besideTexts + (await tokenizer.count(texts));
}
