import type { ApiKeyView, NewApiKeyReply, PlainApiKeyView } from '@svc/api/keys';
import { type Balances, formatUsd } from '@svc/contracts/money';
import type { KeySpend } from '@svc/contracts/ports';
import { type KeyTerms, type StoredKey, inPeriod, type MadeKey } from '@svc/identity/accounts';

/** A new key with its secret. */
export function newApiKeyView({ key, secret }: MadeKey): NewApiKeyReply['data'] {
  return {
    id: key.id,
    apiKey: secret,
    apiKeyType: key.apiKeyType,
    description: key.description,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    consumptionLimit: limitView(key),
    limitPeriod: key.limitPeriod,
    modelPrivacy: key.modelPrivacy,
    ...usesView(key),
    ...ownLimits(key),
  };
}

export function plainApiKeyView(key: StoredKey): PlainApiKeyView {
  return {
    id: key.id,
    apiKeyType: key.apiKeyType,
    description: key.description,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    last6Chars: key.last6,
    consumptionLimits: limitView(key),
    limitPeriod: key.limitPeriod,
    modelPrivacy: key.modelPrivacy,
    ...usesView(key),
    ...ownLimits(key),
  };
}

/** A key with its spend, if known. */
export function apiKeyView(key: StoredKey, spend: KeySpend | undefined): ApiKeyView {
  if (!spend) return plainApiKeyView(key);
  const { usd, diem } = spentView(spend.trailingSevenDays);
  const isLimited = key.usdLimitNano !== null || key.diemLimitNano !== null;
  return {
    ...plainApiKeyView(key),
    usage: { trailingSevenDays: { usd, vcu: fourDecimals(0n), diem } },
    ...(isLimited && { currentPeriodUsage: spentView(inPeriod(spend, key)) }),
  };
}

const spentView = ({ usdNano, diemNano }: Balances): { usd: string; diem: string } => ({
  usd: fourDecimals(usdNano),
  diem: fourDecimals(diemNano),
});

export function limitView({
  usdLimitNano,
  diemLimitNano,
}: Pick<KeyTerms, 'usdLimitNano' | 'diemLimitNano'>): {
  usd: number | null;
  diem: number | null;
  vcu: null;
} {
  return { usd: amountView(usdLimitNano), diem: amountView(diemLimitNano), vcu: null };
}

/** The number of the request: the double nearest to the decimal text. */
const amountView = (nano: bigint | null): number | null => (nano === null ? null : Number(formatUsd(nano)));

/** What restricts nothing is absent. */
function usesView(key: KeyTerms) {
  const { allowedModels, allowedEndpoints, allowedIps, canInfer, isDisabled } = key;
  const { fallbackModels, fallbackOn, requestLimitNano, tags } = key;
  return {
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(allowedModels.length > 0 && { allowedModels: [...allowedModels] }),
    ...(allowedEndpoints.length > 0 && { allowedEndpoints: [...allowedEndpoints] }),
    ...(allowedIps.length > 0 && { allowedIps: [...allowedIps] }),
    ...(!canInfer && { canInfer }),
    ...(requestLimitNano !== null && { maxCostPerRequest: Number(formatUsd(requestLimitNano)) }),
    ...(isDisabled && { disabled: isDisabled }),
    ...(fallbackModels.length > 0 && { fallbackModels: [...fallbackModels] }),
    ...(fallbackOn.length > 0 && { fallbackOn: [...fallbackOn] }),
  };
}

type OwnLimits = Pick<KeyTerms, 'requestsPerMinute' | 'tokensPerMinute' | 'requestsPerDay' | 'tokensPerDay'>;

/** The limits that are set. */
export function ownLimits({ requestsPerMinute, tokensPerMinute, requestsPerDay, tokensPerDay }: OwnLimits) {
  return {
    ...(requestsPerMinute !== null && { requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokensPerMinute }),
    ...(requestsPerDay !== null && { requestsPerDay }),
    ...(tokensPerDay !== null && { tokensPerDay }),
  };
}

const NANO_PER_STEP = 100_000n;

/** Nano-dollars as a decimal string with four decimals, rounded half up. */
export function fourDecimals(nano: bigint): string {
  const steps = (nano + NANO_PER_STEP / 2n) / NANO_PER_STEP;
  return `${steps / 10_000n}.${(steps % 10_000n).toString().padStart(4, '0')}`;
}
