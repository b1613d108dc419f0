import { LeastTokens } from '../tokens/least-tokens.js';
import type { PromptBounds } from '../tokens/trusted-prompt.js';

/** Source of both: the public interface. */
const CHARACTERS_PER_TOKEN = 3.2;
const ESTIMATE_SHARE = 0.95;

/** The most tokens that a tokenizer adds to a text. */
const SPECIAL_TOKENS_AT_MOST = 8;

/** A text with its size, which is measured once. */
export interface MeasuredText {
  readonly text: string;
  /** Estimated. */
  readonly tokens: number;
  readonly bytes: number;
}

export const measured = (text: string): MeasuredText => ({
  text,
  tokens: Math.ceil((text.length / CHARACTERS_PER_TOKEN) * ESTIMATE_SHARE),
  bytes: Buffer.byteLength(text),
});

/**
 * The bounds for a backend's count of these texts, each of which it reads together with what is common to
 * all: at most `maxInputTokens` of both.
 */
export function inputBounds(
  texts: readonly MeasuredText[],
  maxInputTokens: number,
  common: MeasuredText = measured(''),
): PromptBounds {
  let tokens = 0;
  let tokensAtMost = 0;
  for (const text of texts) {
    tokens += common.tokens + text.tokens;
    tokensAtMost += Math.min(common.bytes + text.bytes + SPECIAL_TOKENS_AT_MOST, maxInputTokens);
  }
  const tokensAtLeast = (): number => {
    const least = new LeastTokens();
    for (const { text } of [common, ...texts]) least.add(text);
    return least.tokens;
  };
  return { tokens, tokensAtMost, tokensAtLeast };
}
