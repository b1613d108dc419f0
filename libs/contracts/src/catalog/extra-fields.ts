import { z } from 'zod';

/**
 * Fields of requests that the backends of a model get in addition to those that their kind is known to take
 * (media), or to all that don't steer a server (chats, embeddings).
 */
export const ExtraFields = z
  .array(z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/, 'must be the name of a field'))
  .default([]);

interface SaltedModel {
  readonly extraFields: readonly string[];
  readonly backends: readonly { readonly cacheSaltEnv?: string | undefined }[];
}

/** A client that chooses its salt could choose that of another account. */
export function checkSalts({ extraFields, backends }: SaltedModel, context: z.RefinementCtx): void {
  if (!extraFields.includes('cache_salt') || !backends.some((each) => each.cacheSaltEnv !== undefined))
    return;
  const message = 'must not have cache_salt, because a backend has cacheSaltEnv';
  context.addIssue({ code: 'custom', path: ['extraFields'], message });
}
