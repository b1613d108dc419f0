import { z } from 'zod';
import {
  FALLBACKS_AT_MOST,
  FALLBACK_CAUSES,
  KEY_TYPES,
  MODEL_PRIVACIES,
  LIMIT_PERIODS,
} from '@svc/contracts/ports';
import { numberToNano } from '@svc/contracts/money';

/** Source: the public interface. */
const LIMIT_MAX = 9_999_999_999;

const Limit = z
  .number()
  .min(0)
  .max(LIMIT_MAX)
  .refine((amount) => numberToNano(amount) !== undefined, 'must have at most nine decimals')
  .nullable();

const VCU = 'Deprecated: accepted but not used, and always null in responses.';

/**
 * An absent currency keeps its limit; on a new key it has none. An ADMIN key with limits gives another key at
 * most what is left of its own, which is lowered by that.
 */
export const ConsumptionLimit = z
  .strictObject({
    usd: Limit.optional().describe('US dollars; null means no limit.'),
    diem: Limit.optional().describe('DIEM; null means no limit.'),
    vcu: z.number().min(0).max(LIMIT_MAX).nullable().optional().describe(VCU),
  })
  .meta({ title: 'ConsumptionLimit' });

const error = 'must be "", a day such as "2027-01-31" or a time such as "2027-01-31T12:00:00Z"';

/** A day means its beginning in UTC; an empty value means no expiry. */
const ExpiresAt = z
  .union([
    z.literal('', { error }),
    z.iso.date({ error }),
    z.iso.datetime({ error }).max(40).meta({ pattern: 'Z$' }),
    z.null(),
  ])
  .describe('A day (its beginning, UTC) or a time in the future. Empty: the key does not expire.')
  .meta({ example: '2027-01-31T12:00:00Z' });

const Description = z.string().max(64);
/** The most characters of a tag. */
const TAG_LENGTH_MAX = 64;
/** The most tags of a key. */
const TAGS_MAX = 10;

export const Tag = z
  .string()
  .min(1)
  .max(TAG_LENGTH_MAX)
  .refine((tag) => !/\p{Cc}/u.test(tag), 'must have no control characters')
  .meta({ pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]+$` });
const Tags = z
  .array(Tag)
  .max(TAGS_MAX)
  .describe('Labels of the key. The usage analytics can be limited to the keys with a `tag`.')
  .meta({ example: ['search team', 'production'] });

export const LimitPeriod = z
  .enum(LIMIT_PERIODS)
  .describe(
    'The period of the spending limits: a UTC hour, a UTC day, a week from Monday (UTC), a UTC calendar month, or the lifetime of the key.',
  );
const ModelPrivacy = z
  .enum(MODEL_PRIVACIES)
  .describe(
    'The models that the key may use: all, all but anonymized text models, or all but anonymized models.',
  );

const AllowedModels = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(100)
  .describe(
    'The models that the key may use: ids, aliases, traits, and patterns of ids such as `llama-*`. What counts is the model that serves the request.',
  );
const AllowedEndpoints = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(100)
  .describe(
    'The endpoints that the key may use: paths below `/api/v1` as in this description, and patterns such as `/images/*`. What needs no key stays readable.',
  )
  .meta({ example: ['/chat/completions', '/images/*'] });
const AllowedIps = z
  .array(z.string().min(2).max(49))
  .min(1)
  .max(100)
  .describe('The IP addresses and networks from which the key may be used.')
  .meta({ example: ['192.0.2.0/24', '2001:db8::1'] });
const CanInfer = z
  .boolean()
  .describe('Whether an ADMIN key may also use what is paid for. INFERENCE keys always may.');
const Disabled = z.boolean().describe('A disabled key is refused until it is enabled again.');

/** The models that requests fall back to by default. */
export const FallbackModels = z
  .array(
    z
      .string()
      .min(1)
      .max(200)
      .meta({ pattern: String.raw`^[^\u0000]+$` }),
  )
  .max(FALLBACKS_AT_MOST)
  .describe(
    'The models that completions fall back to, in this order, if their requests have no `models` and no `fallbacks`. Models that cannot be used are left out.',
  );
export const FallbackOn = z
  .array(z.enum(FALLBACK_CAUSES))
  .max(FALLBACK_CAUSES.length)
  .describe('What else than a failure of its servers makes a request go on to the next of these models.');

/** Those of a key replace those of its account. */
const fallbacks = { fallbackModels: FallbackModels.optional(), fallbackOn: FallbackOn.optional() };

/** Less than a nano-dollar is nothing. */
const MaxCostPerRequest = z
  .number()
  .positive()
  .max(LIMIT_MAX)
  .refine((amount) => numberToNano(amount) !== undefined, 'must have at most nine decimals')
  .describe(
    'The most that one request of the key may cost, in US dollars; DIEM counts as much. A response that would cost more ends there, and a request that costs more in any case is refused.',
  )
  .meta({ example: 0.05 });

export const PerMinute = z.int().min(1).max(2_000_000_000);

export const PerDay = PerMinute.describe('In a UTC day.');

/** Limits of this key within its account's. */
const ownLimits = {
  maxCostPerRequest: MaxCostPerRequest.optional(),
  requestsPerMinute: PerMinute.optional().describe("The key's own limit, in addition to its account's."),
  tokensPerMinute: PerMinute.optional().describe("The key's own limit, in addition to its account's."),
  requestsPerDay: PerDay.optional(),
  tokensPerDay: PerDay.optional(),
};

export const NewApiKey = z.strictObject({
  apiKeyType: z.enum(KEY_TYPES),
  description: Description,
  tags: Tags.optional(),
  expiresAt: ExpiresAt.optional(),
  consumptionLimit: ConsumptionLimit.optional(),
  limitPeriod: LimitPeriod.optional().describe('Default: EPOCH.'),
  modelPrivacy: ModelPrivacy.optional().describe('Default: ALL.'),
  allowedModels: AllowedModels.nullable().optional(),
  allowedEndpoints: AllowedEndpoints.nullable().optional(),
  allowedIps: AllowedIps.nullable().optional(),
  canInfer: CanInfer.optional(),
  disabled: Disabled.optional(),
  ...fallbacks,
  ...ownLimits,
});

/** The key that a wallet asks for with a signed token. */
export const WalletApiKey = NewApiKey.extend({
  address: z.string().min(1).max(64).describe('The address of the wallet, on Base or Solana.'),
  token: z.string().min(1).max(1_024).describe('The token that was signed. It counts once.'),
  signature: z
    .string()
    .min(1)
    .max(8_192)
    .describe('The signature of the exact token: `personal_sign` on Base, base58 or base64 on Solana.'),
  description: Description.default('Web3 API Key'),
});

export const WalletKeyToken = z.object({
  success: z.literal(true),
  data: z.object({
    token: z.string().describe('A JSON Web Token, valid for 15 minutes. Its content needs no reading.'),
  }),
});

const KeyId = z.string().min(1).max(64);

/** Absent fields stay unchanged. */
export const ApiKeyChange = z.strictObject({
  id: KeyId,
  description: Description.optional(),
  tags: Tags.optional(),
  expiresAt: ExpiresAt.optional(),
  consumptionLimit: ConsumptionLimit.optional(),
  limitPeriod: LimitPeriod.optional(),
  modelPrivacy: ModelPrivacy.optional(),
  allowedModels: AllowedModels.nullable().optional(),
  allowedEndpoints: AllowedEndpoints.nullable().optional(),
  allowedIps: AllowedIps.nullable().optional(),
  canInfer: CanInfer.optional(),
  disabled: Disabled.optional(),
  ...fallbacks,
  maxCostPerRequest: MaxCostPerRequest.nullable().optional(),
  requestsPerMinute: PerMinute.nullable().optional().describe("The key's own limit; null removes it."),
  tokensPerMinute: PerMinute.nullable().optional().describe("The key's own limit; null removes it."),
  requestsPerDay: PerDay.nullable().optional(),
  tokensPerDay: PerDay.nullable().optional(),
});

/** Longer than most deployments of a new secret take. */
const OVERLAP_SECONDS_MAX = 30 * 86_400;

export const ApiKeyRotation = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS_MAX)
    .default(0)
    .describe('How long the earlier secret still works.'),
});

export const ApiKeyParams = z.object({ id: KeyId });

/** The key to revoke, in the query or in a body. */
export const ApiKeyQuery = z.strictObject({ id: KeyId.optional() });

const Amount = z.number().nullable();
export const LimitView = z.object({ usd: Amount, diem: Amount, vcu: z.null().describe(VCU) });
const Spent = z.string().meta({ example: '0.0123' });

/** Its tags, what the key may be used for, and falls back to. What restricts nothing is absent. */
const uses = {
  tags: Tags.optional(),
  ...fallbacks,
  allowedModels: AllowedModels.optional(),
  allowedEndpoints: AllowedEndpoints.optional(),
  allowedIps: AllowedIps.optional(),
  canInfer: z.literal(false).optional().describe('The ADMIN key may not use what is paid for.'),
  maxCostPerRequest: MaxCostPerRequest.optional(),
  disabled: z.literal(true).optional().describe('The key is refused until it is enabled again.'),
};

/** Those that are set. */
export const ownLimitsView = {
  requestsPerMinute: z.int().optional(),
  tokensPerMinute: z.int().optional(),
  requestsPerDay: z.int().optional(),
  tokensPerDay: z.int().optional(),
};

const view = {
  id: z.uuid(),
  apiKeyType: z.enum(KEY_TYPES),
  description: z.string(),
  expiresAt: z.iso.datetime().nullable(),
};

/** A key without its usage. */
export const PlainApiKeyView = z.object({
  ...view,
  createdAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe('Updated with a delay of a few seconds.'),
  last6Chars: z.string(),
  consumptionLimits: LimitView,
  limitPeriod: LimitPeriod,
  modelPrivacy: ModelPrivacy,
  ...uses,
  ...ownLimitsView,
});

export const ApiKeyView = PlainApiKeyView.extend({
  usage: z
    .object({ trailingSevenDays: z.object({ usd: Spent, vcu: Spent, diem: Spent }) })
    .optional()
    .describe('What the key has spent, with four decimals. Absent while unknown.'),
  currentPeriodUsage: z
    .object({ usd: Spent, diem: Spent })
    .optional()
    .describe('The spending that counts towards its limits, if it has any.'),
});

export const ApiKeyList = z.object({ object: z.literal('list'), data: z.array(ApiKeyView) });
export const ApiKeyReply = z.object({ data: ApiKeyView });
export const ChangedApiKeyReply = z.object({ success: z.literal(true), data: PlainApiKeyView });
export const RevokedApiKeyReply = z.object({ success: z.literal(true) });

export const NewApiKeyReply = z.object({
  success: z.literal(true),
  data: z.object({
    ...view,
    apiKey: z.string().describe('The secret. It is shown only once.'),
    consumptionLimit: LimitView,
    limitPeriod: LimitPeriod,
    modelPrivacy: ModelPrivacy,
    ...uses,
    ...ownLimitsView,
  }),
});

export type NewApiKey = z.infer<typeof NewApiKey>;
export type WalletApiKey = z.infer<typeof WalletApiKey>;
export type WalletKeyToken = z.infer<typeof WalletKeyToken>;
export type ApiKeyChange = z.infer<typeof ApiKeyChange>;
export type ApiKeyRotation = z.infer<typeof ApiKeyRotation>;
export type ApiKeyQuery = z.infer<typeof ApiKeyQuery>;
export type ApiKeyView = z.infer<typeof ApiKeyView>;
export type PlainApiKeyView = z.infer<typeof PlainApiKeyView>;
export type ApiKeyList = z.infer<typeof ApiKeyList>;
export type ApiKeyReply = z.infer<typeof ApiKeyReply>;
export type ChangedApiKeyReply = z.infer<typeof ChangedApiKeyReply>;
export type RevokedApiKeyReply = z.infer<typeof RevokedApiKeyReply>;
export type NewApiKeyReply = z.infer<typeof NewApiKeyReply>;
