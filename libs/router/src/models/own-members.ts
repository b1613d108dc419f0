import { createHmac } from 'node:crypto';
import type { Backend } from '@svc/contracts/catalog';
import type { OwnChatMembers } from '../dialect/dialect.js';

/**
 * The members of a chat that differ by backend. Throws without the secret of a backend that separates
 * accounts in its cache.
 */
export function ownMembers(
  backend: Backend,
  accountId: string,
  secretOf: (name: string) => string | undefined,
): OwnChatMembers {
  const { model, cacheSaltEnv, thinking, betas } = backend;
  if (cacheSaltEnv === undefined) {
    let own = known.get(backend);
    if (!own) known.set(backend, (own = { model, ...(thinking && { thinking }), ...(betas && { betas }) }));
    return own;
  }
  const secret = secretOf(cacheSaltEnv) ?? '';
  if (secret === '') throw new Error(`${cacheSaltEnv} is not set`);
  return { model, cache_salt: createHmac('sha256', secret).update(accountId).digest('base64url') };
}

/** Those of backends that do not separate accounts. */
const known = new WeakMap<Backend, OwnChatMembers>();
