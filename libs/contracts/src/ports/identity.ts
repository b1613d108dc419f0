import { createHash } from 'node:crypto';
import type { SpendingLimit } from './ledger.js';
import type { Limit } from './limiter.js';

/** Which models a key may use: all; no anonymized text models; no anonymized models at all. */
export const MODEL_PRIVACIES = ['ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'] as const;
export type ModelPrivacy = (typeof MODEL_PRIVACIES)[number];

export const KEY_TYPES = ['INFERENCE', 'ADMIN'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

/** An operator's limits for an account, which replace those of its tier. */
export interface AccountLimit {
  /** The model that they apply to; without one, every model that has no limit of its own. */
  readonly model?: string;
  readonly limits: readonly Limit[];
}

/** What a key may be used for. What is absent restricts nothing. */
export interface KeyRestrictions {
  /** Ids, aliases and traits of models, and patterns of ids with `*`. */
  readonly models?: readonly string[];
  /** Paths below `/api/v1`, and patterns of them with `*`. */
  readonly endpoints?: readonly string[];
  /** IP addresses and networks, such as `192.0.2.0/24`. */
  readonly addresses?: readonly string[];
  /** Whether it may only manage the account: nothing that is paid for. */
  readonly isForManagement?: true;
}

/**
 * What else than a failure of its servers makes a request go on to the next model: OpenAI's codes for a
 * prompt that is too long, and for a content filter.
 */
export const FALLBACK_CAUSES = ['context_length_exceeded', 'content_filter'] as const;
export type FallbackCause = (typeof FALLBACK_CAUSES)[number];

/** The most models that are tried after the first. */
export const FALLBACKS_AT_MOST = 10;

/** The models to fall back to that an account or a key has by default, for requests that name none. */
export interface FallbackDefaults {
  readonly models: readonly string[];
  readonly on: readonly FallbackCause[];
}

/** An authenticated caller: an account, by one of its keys or by its wallet. */
export interface Caller {
  readonly accountId: string;
  /** For a wallet, `wallet:<address>`; in the console, `console:<account>`. */
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
  /** The most that one request of the key may cost, in nano-dollars of either currency. */
  readonly requestLimitNano?: bigint;
  readonly restrictions?: KeyRestrictions;
  /** Those of the key, or else of the account. */
  readonly fallbacks?: FallbackDefaults;
  /** Whether the key is switched off. */
  readonly isDisabled?: true;
  /** The key's own limits, in addition to those of its account. */
  readonly limits?: readonly Limit[];
  readonly accountLimits?: readonly AccountLimit[];
  /** The account's concurrent requests, if the operator has set a limit. */
  readonly concurrent?: number;
  /** Whether the request is a line of a batch, which the account has sent earlier. */
  readonly inBatch?: true;
  /** Whether an operator has suspended the account. */
  readonly isSuspended?: true;
  /** Hides the names of the account's end users; absent for a wallet whose account has no row. */
  readonly userKey?: string;
  /** Whether the account limits its end users. */
  readonly limitsUsers?: true;
  /** Whose request of the account it is, as `endUserId` writes it, and what that end user may do. */
  readonly endUser?: string;
  readonly userLimits?: readonly Limit[];
  readonly userSpending?: SpendingLimit;
}

/** Whether the caller's key may do less than its account. */
export const isBound = ({ keyLimit, requestLimitNano, limits, restrictions }: Caller): boolean =>
  (keyLimit ?? requestLimitNano ?? limits ?? restrictions) !== undefined;

/** The `keyId` of callers in the console of an account, who use none of its keys. */
export const consoleKeyId = (accountId: string): string => `${OF_CONSOLE}${accountId}`;
const OF_CONSOLE = 'console:';

/** What the ids of end users begin with; no key's id does. */
export const END_USER = 'eu_';

/** Whether an id is that of an end user, not of a key. */
export const isEndUser = (id: string): boolean => id.startsWith(END_USER);

/** Whether a `keyId` is that of the console of an account. */
export const isConsole = (keyId: string): boolean => keyId.startsWith(OF_CONSOLE);

/** The name of what spent something without a key: the console, or a wallet. */
export const nameWithoutKey = (keyId: string): string =>
  isConsole(keyId) ? 'Web App' : keyId.slice(keyId.indexOf(':') + 1);

/** Whether a `keyId` is that of a key, and not of a wallet or the console. */
export const isOfKey = (keyId: string): boolean => !keyId.includes(':');

/** The prefix of a key's secret. */
export const KEY_PREFIX = { INFERENCE: 'SVC_INFERENCE_KEY_', ADMIN: 'SVC_ADMIN_KEY_' } as const;

/** The canonical form of a wallet's address: on Base its case is insignificant. */
export function walletName(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

/**
 * The account id of a wallet. It is derived from the wallet's name, so that it needs no lookup and can't be
 * created twice.
 */
export function walletAccountId(wallet: string): string {
  const bytes = createHash('sha256').update(`svc wallet account\n${wallet}`).digest().subarray(0, 16);
  // The version and variant of a custom UUID. Source: RFC 9562 §5.8.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
