import { z } from 'zod';

/**
 * A NUL, which PostgreSQL rejects, or half of a surrogate pair, which UTF-8 can only replace by another
 * character.
 */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

/** Text that PostgreSQL stores unchanged, so that two different texts stay different. */
export function storableText(): z.ZodString {
  return z
    .string()
    .refine((text) => !UNSTORABLE.test(text), 'must not contain NUL or unpaired surrogate characters')
    .meta({ pattern: String.raw`^[^\u0000]*$` });
}
