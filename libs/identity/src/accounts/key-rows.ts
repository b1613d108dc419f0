import { type Balances, NO_MONEY } from '@svc/contracts/money';
import {
  type Caller,
  FALLBACK_CAUSES,
  type FallbackCause,
  type KeyRestrictions,
  KEY_TYPES,
  type KeySpend,
  MODEL_PRIVACIES,
  type KeyType,
  type ModelPrivacy,
} from '@svc/contracts/ports';
import { z } from 'zod';
import { type AccountRow, accountTerms, fallbackDefaults } from './account-rows.js';
import { Nano, type UseLimits, rateLimits, spendingLimit, useColumns } from './use-limits.js';

/** The properties of a key that its owner sets. */
export interface KeyTerms extends UseLimits {
  readonly description: string;
  readonly expiresAt: Date | null;
  readonly requestLimitNano: bigint | null;
  readonly modelPrivacy: ModelPrivacy;
  /** Labels, to which usage analytics can be limited. */
  readonly tags: readonly string[];
  /** Empty lists restrict nothing. */
  readonly allowedModels: readonly string[];
  readonly allowedEndpoints: readonly string[];
  readonly allowedIps: readonly string[];
  readonly canInfer: boolean;
  readonly isDisabled: boolean;
  /** The models to fall back to by default, in place of those of the account. */
  readonly fallbackModels: readonly string[];
  readonly fallbackOn: readonly FallbackCause[];
}

/** A key as stored: everything except its secret. */
export interface StoredKey extends KeyTerms {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyType: KeyType;
  readonly last6: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const KeyRow = z
  .object({
    id: z.string(),
    accountId: z.string(),
    apiKeyType: z.enum(KEY_TYPES),
    last6: z.string(),
    createdAt: z.date(),
    lastUsedAt: z.date().nullable(),
    description: z.string(),
    expiresAt: z.date().nullable(),
    consumptionLimitUsdNano: Nano.nullable(),
    consumptionLimitDiemNano: Nano.nullable(),
    requestLimitNano: Nano.nullable(),
    modelPrivacy: z.enum(MODEL_PRIVACIES),
    ...useColumns,
    tags: z.array(z.string()),
    allowedModels: z.array(z.string()),
    allowedEndpoints: z.array(z.string()),
    allowedIps: z.array(z.string()),
    canInfer: z.boolean(),
    isDisabled: z.boolean(),
    fallbackModels: z.array(z.string()),
    fallbackOn: z.array(z.enum(FALLBACK_CAUSES)),
  })
  .transform(
    ({
      consumptionLimitUsdNano: usdLimitNano,
      consumptionLimitDiemNano: diemLimitNano,
      ...key
    }): StoredKey => ({
      ...key,
      usdLimitNano,
      diemLimitNano,
    }),
  );

/** Parses a row of the table of keys. */
export const readKey = (row: unknown): StoredKey => KeyRow.parse(row);

/** The given properties as Prisma columns. */
export function keyColumns({ usdLimitNano, diemLimitNano, requestLimitNano, ...terms }: Partial<KeyTerms>) {
  const { tags, allowedModels, allowedEndpoints, allowedIps, fallbackModels, fallbackOn, ...others } = terms;
  return {
    ...others,
    ...(tags !== undefined && { tags: [...tags] }),
    ...(allowedModels !== undefined && { allowedModels: [...allowedModels] }),
    ...(allowedEndpoints !== undefined && { allowedEndpoints: [...allowedEndpoints] }),
    ...(allowedIps !== undefined && { allowedIps: [...allowedIps] }),
    ...(fallbackModels !== undefined && { fallbackModels: [...fallbackModels] }),
    ...(fallbackOn !== undefined && { fallbackOn: [...fallbackOn] }),
    ...(usdLimitNano !== undefined && { consumptionLimitUsdNano: usdLimitNano?.toString() ?? null }),
    ...(requestLimitNano !== undefined && { requestLimitNano: requestLimitNano?.toString() ?? null }),
    ...(diemLimitNano !== undefined && { consumptionLimitDiemNano: diemLimitNano?.toString() ?? null }),
  };
}

/** The caller that holds this key, with everything that the rest of the gateway needs. */
export function callerOf(key: StoredKey, account: AccountRow): Caller {
  const keyLimit = spendingLimit(key);
  const limits = rateLimits('api_key', key);
  const restrictions = restrictionsOf(key);
  const fallbacks = fallbackDefaults(key);
  return {
    accountId: key.accountId,
    keyId: key.id,
    ...accountTerms(account),
    keyType: key.apiKeyType,
    modelPrivacy: key.modelPrivacy,
    ...(key.expiresAt && { expiresAt: key.expiresAt.toISOString() }),
    ...(keyLimit && { keyLimit }),
    ...(key.requestLimitNano !== null && { requestLimitNano: key.requestLimitNano }),
    ...(limits.length > 0 && { limits }),
    ...(restrictions && { restrictions }),
    ...(key.isDisabled && { isDisabled: true }),
    ...(fallbacks && { fallbacks }),
  };
}

function restrictionsOf(key: StoredKey): KeyRestrictions | undefined {
  const { allowedModels: models, allowedEndpoints: endpoints, allowedIps: addresses, canInfer } = key;
  if (models.length + endpoints.length + addresses.length === 0 && canInfer) return undefined;
  return {
    ...(models.length > 0 && { models }),
    ...(endpoints.length > 0 && { endpoints }),
    ...(addresses.length > 0 && { addresses }),
    ...(!canInfer && { isForManagement: true }),
  };
}

/** What a key has spent in the current period of its limit. */
export function inPeriod(spend: KeySpend, { limitPeriod }: Pick<KeyTerms, 'limitPeriod'>): Balances {
  switch (limitPeriod) {
    case 'HOUR':
      return spend.hour ?? NO_MONEY;
    case 'EPOCH':
      return spend.epoch;
    case 'WEEK':
      return spend.week;
    case 'MONTH':
      return spend.month;
    case 'LIFETIME':
      return spend.lifetime;
  }
}
