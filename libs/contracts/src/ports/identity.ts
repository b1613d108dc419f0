import type { SpendingLimit } from './ledger.js';
import type { MinuteLimits } from './limiter.js';

/** Which models a key may use: all; no anonymized text models; no anonymized models at all. */
export const MODEL_PRIVACIES = ['ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'] as const;
export type ModelPrivacy = (typeof MODEL_PRIVACIES)[number];

export const KEY_TYPES = ['INFERENCE', 'ADMIN'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** An operator's limit for an account, which replaces its tier's. */
export interface AccountLimit extends MinuteLimits {
  /** The model it applies to; without one, every model that has no limit of its own. */
  readonly model?: string;
}

/** An authenticated caller: an account, by one of its keys or by its wallet. */
export interface Caller {
  readonly accountId: string;
  /** For a wallet, `wallet:<address>`. */
  readonly keyId: string;
  /** The address of the signed-in wallet, in lower case if case is insignificant; absent for keys. */
  readonly wallet?: string;
  readonly tier: 'standard' | 'partner';
  /** Whether the account may use models for paid accounts. */
  readonly paid: boolean;
  readonly keyType: KeyType;
  readonly modelPrivacy: ModelPrivacy;
  /** When the key expires, ISO 8601. */
  readonly expiresAt?: string;
  /** What the key may spend; absent for no limit. */
  readonly keyLimit?: SpendingLimit;
  /** The key's own limits, beside those of its account. */
  readonly limits?: MinuteLimits;
  readonly accountLimits?: readonly AccountLimit[];
  /** The account's concurrent requests, if the operator has set a limit. */
  readonly concurrent?: number;
  /** Whether an operator has suspended the account. */
  readonly isSuspended?: true;
}

/** The prefix of a key's secret. */
export const KEY_PREFIX = { INFERENCE: 'SVC_INFERENCE_KEY_', ADMIN: 'SVC_ADMIN_KEY_' } as const;
