import type { Fields, Piece } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { isCiphertext } from '../tokens/ciphertext.js';

/** Members whose texts backends encrypt. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'reasoning_content']);

/**
 * Throws E2EE_PLAINTEXT_FROM_BACKEND if a delta, or the log probabilities beside it, say anything that is not
 * encrypted. Backends leave white space as it is.
 */
export function requireCiphertext(delta: Fields, logprobs: Piece['logprobs']): void {
  const { role: _, ...members } = delta;
  const isReadable = Object.entries(members).some(
    ([name, value]) => !isNothing(value) && !(TEXTS.has(name) && isHidden(value)),
  );
  if (isReadable || !Object.values(logprobs ?? {}).every(isNothing))
    throw new Problem('E2EE_PLAINTEXT_FROM_BACKEND');
}

function isNothing(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function isHidden(value: unknown): boolean {
  return typeof value === 'string' && (isCiphertext(value) || value.trim() === '');
}
