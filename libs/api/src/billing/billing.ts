import { SERVICE_TIERS } from '@svc/contracts/money';
import { z } from 'zod';
import { Tag } from '../keys/api-keys.js';
import { EndUserId, EndUserName } from '../end-users/end-users.js';

const CURRENCIES = ['USD', 'DIEM'] as const;

/** The most days that one analysis covers. */
export const ANALYTICS_DAYS = 90;
/** The most models and keys with their own series, unless the request asks for others. */
const ANALYTICS_TOP = 8;
const ANALYTICS_TOP_MAX = 100;
/** Instead of the id of a key: what the console of the account spent. */
export const WEB_APP = 'web';

const Currency = z.enum(CURRENCIES);
/** Credits that come with a subscription, which this service does not sell. */
const NO_CREDITS = 'BUNDLED_CREDITS';
const SoughtCurrency = z
  .enum([...CURRENCIES, NO_CREDITS])
  .optional()
  .describe('Entries in this currency. There are none in `BUNDLED_CREDITS`.');
const Day = z.iso.date().meta({ example: '2026-11-21' });
const RecentDay = Day.refine((day) => /^2[01]/.test(day), 'must be a day from 2000 to 2199').meta({
  example: '2026-11-21',
  pattern: '^2[01]',
});
/** What usage lists and sums can be limited to. */
const ofKeyAndModel = {
  apiKeyId: z
    .union([z.uuid(), z.literal(WEB_APP)])
    .optional()
    .describe('Only the usage of this key; `web` is that of the console.'),
  model: z.string().min(1).max(200).optional().describe('Only the usage of this model.'),
};

const ofUser = {
  user: EndUserName.optional().describe(
    'Only the requests of this end user, by its id or by the name that they have in `user`, `safety_identifier` or `metadata.user_id`.',
  ),
};
const Usd = z.number().describe('With at most nine decimals.');
const Mtokens = z.number().describe('In millions; of tokens, if the item is charged by tokens.');

export const BillingBalance = z.object({
  canConsume: z.boolean().describe('Whether the account has a balance to pay requests with.'),
  consumptionCurrency: Currency.nullable().describe(
    'The currency that pays for the next request first: DIEM while there is any, then USD.',
  ),
  balances: z.object({ diem: Usd, usd: Usd }),
  diemEpochAllocation: z
    .number()
    .describe('The DIEM that the account receives for its stake at the beginning of each UTC day.'),
});

/** A position of a charge in one currency. */
export const BillingEntry = z.object({
  timestamp: z.iso.datetime().describe('When the response ended.'),
  sku: z.string().meta({ example: 'llama-3.2-3b-llm-output-mtoken' }),
  units: Mtokens.describe(
    'Millions of tokens. An item paid in both currencies has two entries, which divide its units between them.',
  ),
  pricePerUnitUsd: Usd,
  amount: z.number().describe('In `currency`, with at most nine decimals. Negative, because it is a charge.'),
  currency: Currency,
  notes: z.string().meta({ example: 'API Inference' }),
  inferenceDetails: z
    .object({
      requestId: z.string().describe('The `id` of the response.'),
      promptTokens: z.int().nullable().describe('Tokens of the whole request.'),
      completionTokens: z.int().nullable().describe('Tokens of the whole request.'),
      inferenceExecutionTime: z.int().nullable().describe('Milliseconds.'),
      serviceTier: z
        .enum(SERVICE_TIERS)
        .optional()
        .describe('The tier of service, which is also a part of `sku`. Absent for the default tier.'),
    })
    .nullable(),
});

export const BillingUsage = z.object({
  warningMessage: z.string().optional(),
  data: z.array(BillingEntry),
  pagination: z.object({
    limit: z.int(),
    page: z.int(),
    total: z.int().describe('The total number of entries.'),
    totalPages: z.int(),
  }),
});

export const BillingUsageHistory = z.object({
  data: z.array(BillingEntry),
  nextCursor: z
    .string()
    .nullable()
    .describe(
      'Pass it as `cursor`, without other parameters, for the next page; null on the last page. Any page may be shorter than `pageSize`.',
    ),
});

const error = 'must be a day such as "2026-11-21" or a time such as "2026-11-21T12:00:00Z"';

/** A day, or a time with its offset. */
const DayOrTime = z
  .union([z.iso.date({ error }), z.iso.datetime({ offset: true, error }).max(40)])
  .meta({ example: '2026-11-21' });

export const BillingUsageQuery = z.object({
  currency: SoughtCurrency,
  startDate: DayOrTime.optional().describe(
    'Entries from this time on, or from the beginning of this UTC day.',
  ),
  endDate: DayOrTime.optional().describe('Entries before this time, or until the end of this UTC day.'),
  ...ofKeyAndModel,
  ...ofUser,
  limit: z.coerce.number().int().min(1).max(500).default(200),
  page: z.coerce.number().int().min(1).max(1_000_000_000).default(1),
  sortOrder: z.enum(['asc', 'desc']).default('desc').describe('The order by time.'),
});

const UtcTime = z.iso
  .datetime({ error: 'must be a time in UTC such as "2026-11-21T12:00:00Z"' })
  .max(40)
  .meta({ example: '2026-11-01T00:00:00Z', pattern: 'Z$' });

export const BillingUsageHistoryQuery = z.object({
  startTimestamp: UtcTime.optional().describe('Entries from this time on.'),
  endTimestamp: UtcTime.optional().describe('Entries before this time.'),
  currency: SoughtCurrency,
  ...ofKeyAndModel,
  ...ofUser,
  pageSize: z.coerce.number().int().min(10).max(1_000).optional().describe('Default: 1000.'),
  /** Validated when decoded, so that every invalid cursor gets the same error. */
  cursor: z
    .string()
    .optional()
    .meta({ pattern: '^[A-Za-z0-9_-]+$', maxLength: 1_024 })
    .describe(
      '`nextCursor` of the previous page. It includes the parameters of the first request, so send no others with it.',
    ),
});

export const BillingAnalyticsQuery = z.object({
  lookback: z
    .string()
    .max(20)
    .regex(/^[1-9]\d*d$/, 'must be a number of days such as "7d"')
    .optional()
    .describe(
      `The number of days up to and including today (UTC), at most ${ANALYTICS_DAYS}. Default: \`7d\`.`,
    ),
  startDate: RecentDay.optional().describe('The first day (UTC). Requires `endDate`.'),
  endDate: RecentDay.optional().describe('The last day (UTC). Requires `startDate`.'),
  ...ofKeyAndModel,
  tag: Tag.optional().describe('Only the usage of the keys that have this tag now, revoked ones included.'),
});

const DaysQuery = BillingAnalyticsQuery.pick({ lookback: true, startDate: true, endDate: true });

export const BillingUsersQuery = DaysQuery.extend({
  ...ofUser,
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('The most end users.'),
});

export const BillingUsers = z.object({
  lookback: z.string().meta({ example: '7d' }),
  data: z
    .array(
      z.object({
        endUser: EndUserId,
        requests: z.int(),
        promptTokens: z.int(),
        completionTokens: z.int(),
        usd: Usd,
        diem: Usd,
      }),
    )
    .describe('The end users that spent most, highest first.'),
});

export const BillingReportQuery = BillingAnalyticsQuery.extend({
  top: z.coerce
    .number()
    .int()
    .min(1)
    .max(ANALYTICS_TOP_MAX)
    .default(ANALYTICS_TOP)
    .describe('The most models and keys with their own series.'),
});

const Tokens = z
  .int()
  .nullable()
  .describe('Null if the model is not charged by tokens of this kind, or used none.');
const Spender = {
  apiKeyId: z.uuid().nullable().describe('Null for what no key spent.'),
  description: z.string().describe('That of the key; `Web App` for the console.'),
  modelName: z.string(),
};

export const BillingDays = z.object({
  lookback: z.string().meta({ example: '7d' }),
  data: z
    .array(
      z.object({
        date: Day,
        ...Spender,
        modelType: z.string().nullable().describe('Null for a model that is no longer offered.'),
        usd: Usd,
        diem: Usd,
        inputTokens: Tokens,
        outputTokens: Tokens,
        cacheReadTokens: Tokens,
        cacheWriteTokens: Tokens,
      }),
    )
    .describe('A row for each day, key and model with usage, oldest first.'),
});

export const BillingRequestsQuery = z.object({
  startTimestamp: UtcTime.optional().describe('Requests from this time on.'),
  endTimestamp: UtcTime.optional().describe('Requests before this time.'),
  ...ofKeyAndModel,
  ...ofUser,
  requestId: z.string().min(1).max(200).optional().describe('Only this request.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z
    .string()
    .meta({ pattern: '^[0-9]{1,15}_[ -~]{1,200}$' })
    .optional()
    .describe('`nextCursor` of the previous page, with the same other parameters.'),
});

export const BillingRequests = z.object({
  data: z.array(
    z.object({
      requestId: z.string().describe('The `id` of the response.'),
      timestamp: z.iso.datetime().describe('When the response ended.'),
      ...Spender,
      usd: Usd.describe('The cost in USD.'),
      diem: Usd.describe('The cost in DIEM.'),
      promptTokens: z.int().nullable(),
      completionTokens: z.int().nullable(),
      durationMs: z.int(),
      lines: z.array(BillingEntry).describe('The positions of the charge.'),
    }),
  ),
  nextCursor: z.string().nullable().describe('Null on the last page.'),
});

/** Totals of usage. */
const totals = { totalUsd: Usd, totalDiem: Usd, totalUnits: Mtokens };

/** A day, with the amount spent by name. */
const DaySeries = z
  .object({ date: z.int().describe('The beginning of the day in UTC, in Unix milliseconds.') })
  .catchall(z.number())
  .meta({ example: { date: 1_795_219_200_000, 'llama-3.2-3b': 0.0000072 } });

export const BillingAnalytics = z.object({
  lookback: z.string().describe('The period covered.').meta({ example: '7d' }),
  byDate: z
    .array(z.object({ date: Day, USD: Usd, DIEM: Usd }))
    .describe('Every day of the period, including days without usage.'),
  byModel: z
    .array(
      z.object({
        modelName: z.string().describe('The id of the model.'),
        unitType: z.string().meta({ example: 'mtoken' }),
        modelType: z.string().nullable().describe('Null for a model that is no longer offered.'),
        ...totals,
        breakdown: z
          .array(
            z.object({
              type: z.enum(['Input', 'Output', 'Cache Read', 'Cache Write']),
              usd: Usd,
              diem: Usd,
              units: Mtokens,
            }),
          )
          .optional(),
      }),
    )
    .describe('All models, by cost, highest first.'),
  byModelDaily: z.array(DaySeries).describe('USD and DIEM added together, for each of `topModels`.'),
  topModels: z.array(z.string()).describe('The `top` models with the highest cost.'),
  byKey: z
    .array(z.object({ apiKeyId: z.string().nullable(), description: z.string(), ...totals }))
    .describe('All keys, by cost, highest first.'),
  byKeyDaily: z.array(DaySeries).describe('USD and DIEM added together, for each of `topKeyNames`.'),
  topKeyNames: z
    .array(z.string())
    .describe(
      'The descriptions of the `top` keys with the highest cost, with the end of the key if a description is not unique.',
    ),
});

export type BillingBalance = z.infer<typeof BillingBalance>;
export type BillingEntry = z.infer<typeof BillingEntry>;
export type BillingUsage = z.infer<typeof BillingUsage>;
export type BillingUsageQuery = z.infer<typeof BillingUsageQuery>;
export type BillingUsageHistory = z.infer<typeof BillingUsageHistory>;
export type BillingUsageHistoryQuery = z.infer<typeof BillingUsageHistoryQuery>;
export type BillingAnalytics = z.infer<typeof BillingAnalytics>;
export type BillingAnalyticsQuery = z.infer<typeof BillingAnalyticsQuery>;
export type BillingReportQuery = z.infer<typeof BillingReportQuery>;
export type BillingUsers = z.infer<typeof BillingUsers>;
export type BillingUsersQuery = z.infer<typeof BillingUsersQuery>;
export type BillingDays = z.infer<typeof BillingDays>;
export type BillingRequests = z.infer<typeof BillingRequests>;
export type BillingRequestsQuery = z.infer<typeof BillingRequestsQuery>;
