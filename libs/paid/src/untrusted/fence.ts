import { createHmac, randomBytes } from 'node:crypto';
import { neutralised } from './untrusted-text.js';

/** Hex digits of a code: 48 bits. */
const CODE_DIGITS = 12;

/** The most characters shown of a name or a reason. */
const LABEL_CHARACTERS = 200;

/** The lines around untrusted content, with a code that the author of the content cannot know. */
export interface Fence {
  readonly code: string;
  readonly opening: string;
  readonly closing: string;
}

/** @param label This service's description of the content. */
export function fence(label: string, code: string): Fence {
  return {
    code,
    opening: `[Untrusted content ${code}: ${label}]`,
    closing: `[End of untrusted content ${code}]`,
  };
}

export function randomCode(): string {
  return randomBytes(CODE_DIGITS / 2).toString('hex');
}

/**
 * A code that is unpredictable without the secret, but constant for the same content of the same account.
 * Conversations repeat their files in every request, and prompt caches only recognise identical prompts.
 * Content that quotes its own code gets a different one.
 */
export function stableCode(secret: string, accountId: string, content: string): string {
  const contents = createHmac('sha256', secret).update(content).digest('hex');
  return createHmac('sha256', secret)
    .update(`untrusted-content ${accountId} ${contents}`)
    .digest('hex')
    .slice(0, CODE_DIGITS);
}

/** A name, title or reason as one short line without brackets that could close those around it. */
export function label(text: string): string {
  const line = text
    .slice(0, 4 * LABEL_CHARACTERS)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[[［﹇]/gu, '(')
    .replaceAll(/[\]］﹈]/gu, ')')
    .trim();
  const short = line.length > LABEL_CHARACTERS ? `${line.slice(0, LABEL_CHARACTERS)}…` : line;
  return neutralised(short.toWellFormed());
}
