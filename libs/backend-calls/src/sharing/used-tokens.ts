import type { UsedTokens } from './token-queue.js';

/** A chunk of a stream has about this many bytes, and most have one token. */
const BYTES_PER_OUTPUT_TOKEN = 256;

const PROMPT = /"(?:prompt_tokens|input_tokens)"\s*:\s*(\d{1,9})/;
const OUTPUT = /"(?:completion_tokens|output_tokens)"\s*:\s*(\d{1,9})/;

/**
 * The tokens that a call has used, from the end of its response. Text of the model is within strings there,
 * whose quotation marks are escaped. Without counts, as after an abort, the output is estimated by its
 * length.
 */
export function usedTokens(end: string, receivedBytes: number): UsedTokens {
  const [prompt, output] = [PROMPT.exec(end)?.[1], OUTPUT.exec(end)?.[1]];
  return prompt === undefined || output === undefined
    ? { promptTokens: undefined, outputTokens: Math.ceil(receivedBytes / BYTES_PER_OUTPUT_TOKEN) }
    : { promptTokens: Number(prompt), outputTokens: Number(output) };
}
