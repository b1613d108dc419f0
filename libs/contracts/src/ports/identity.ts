import type { SpendingLimit } from './ledger.js';
import type { MinuteLimits } from './limiter.js';

/** Which models a key may use: all; no anonymized text models; no anonymized models at all. */
export const MODEL_PRIVACIES = ['ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'] as const;
export type ModelPrivacy = (typeof MODEL_PRIVACIES)[number];

export const KEY_TYPES = ['INFERENCE', 'ADMIN'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** What the operator has set for an account in place of its tier's limits. */
export interface AccountLimit extends MinuteLimits {
  /** For this model only; without it, for every model that has none of its own. */
  readonly model?: string;
}

/** Who asks: an account, by one of its keys or as the wallet that it is. */
export interface Caller {
  readonly accountId: string;
  /** Of a wallet, `wallet:<address>`. */
  readonly keyId: string;
  /** The address of the wallet that has signed in, in lower case where that makes no difference; absent for keys. */
  readonly wallet?: string;
  readonly tier: 'standard' | 'partner';
  /** Whether models for paid accounts may be used. */
  readonly paid: boolean;
  readonly keyType: KeyType;
  readonly modelPrivacy: ModelPrivacy;
  /** When the key ends, ISO 8601. */
  readonly expiresAt?: string;
  /** What the key may spend; without it, there is no limit. */
  readonly keyLimit?: SpendingLimit;
  /** The key's own limits, beside those of its account. */
  readonly limits?: MinuteLimits;
  readonly accountLimits?: readonly AccountLimit[];
  /** Requests that the account may have under way at once, where the operator has set it. */
  readonly concurrent?: number;
  /** Whether an operator has suspended the account. */
  readonly isSuspended?: true;
}

/** What the secret of a key starts with. */
export const KEY_PREFIX = { INFERENCE: 'SVC_INFERENCE_KEY_', ADMIN: 'SVC_ADMIN_KEY_' } as const;
