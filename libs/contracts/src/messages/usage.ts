import { z } from 'zod';
import { defineEvent } from './events.js';
import { type Balances, NO_MONEY, pricedNano } from '../money/money.js';
import { type Unit, unitOf } from '../money/units.js';

/** Tokens of one request, as the backend counted them. */
export interface Usage {
  /** All prompt tokens, including cached ones. */
  readonly promptTokens: number;
  /** All generated tokens, including reasoning. */
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  /** Those of `cacheWriteTokens` that were written for an hour. */
  readonly hourCacheWriteTokens?: number | undefined;
  readonly reasoningTokens: number;
}

/** The backend in the charge of a job for media, which is charged before a backend is chosen. */
export const MEDIA_JOBS_BACKEND = 'media-jobs';

export const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** What something costs. Per million units, so that prices of tokens are whole numbers too. */
export interface Price {
  readonly sku: string;
  /** A SKU always has the same unit. */
  readonly unit: Unit;
  readonly priceNanoPerMillion: bigint;
  /** What a hosted provider takes, if the price is its price with a markup. */
  readonly providerNanoPerMillion?: bigint | undefined;
}

/** One position of a charge: a number of units at a price. */
export interface ChargeLine extends Omit<Price, 'unit' | 'providerNanoPerMillion'> {
  /** A `Unit` of this release or of a newer one. */
  readonly unit: string;
  readonly units: number;
  readonly amountNano: bigint;
  /** What a hosted provider takes for these units. */
  readonly providerNano?: bigint | undefined;
}

/** The charge line for a number of units, rounded up once. */
export function chargeLine(price: Price, units: number): ChargeLine {
  const { sku, unit, priceNanoPerMillion, providerNanoPerMillion: provider } = price;
  return {
    sku,
    unit,
    units,
    priceNanoPerMillion,
    amountNano: pricedNano(units, priceNanoPerMillion),
    providerNano: provider === undefined ? undefined : pricedNano(units, provider),
  };
}

/** What one request costs its account. Unique by request id. */
export interface Charge {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly backend: string;
  /** When the response ended, ISO 8601 in UTC. Fixed here, so that a charge published twice is identical. */
  readonly at: string;
  readonly usage: Usage;
  readonly lines: readonly ChargeLine[];
  /** What the account pays. The lines sum to this plus the write-off. */
  readonly cost: Balances;
  /** The part of the lines' cost beyond the hold. */
  readonly writeOffNano: bigint;
  readonly durationMs: number;
  /** The end user whose request it was, if the account has named one. */
  readonly endUser?: string | undefined;
}

const Nano = z.string().regex(/^\d{1,24}$/);
const Count = z.int().nonnegative();

export const UsageRecorded = z.object({
  requestId: z.string(),
  accountId: z.string(),
  keyId: z.string(),
  model: z.string(),
  backend: z.string(),
  at: z.iso.datetime(),
  usage: z.object({
    promptTokens: Count,
    completionTokens: Count,
    cachedTokens: Count,
    cacheWriteTokens: Count,
    reasoningTokens: Count,
  }),
  lines: z.array(
    z.object({
      sku: z.string(),
      /** Absent in events of earlier releases. */
      unit: z.string().optional(),
      units: Count,
      priceNanoPerMillion: Nano,
      amountNano: Nano,
      /** A release that does not know this posts the line without it. */
      providerNano: Nano.optional(),
    }),
  ),
  usdNano: Nano,
  diemNano: Nano,
  writeOffNano: Nano,
  durationMs: Count,
  /** A release that does not know this posts the charge without it. */
  endUser: z.string().max(64).optional(),
  /**
   * Instead of a charge: the request costs nothing, and what it has cost is returned. A release that does not
   * know this posts an empty charge.
   */
  isGivenBack: z.literal(true).optional(),
});

/** A charge on the wire: every amount is a string of nano-dollars, since JSON has no bigint. */
export type UsageRecorded = z.infer<typeof UsageRecorded>;

/** A charge as recorded. If it is given back, its request costs nothing instead. */
export interface RecordedCharge extends Charge {
  readonly isGivenBack?: true | undefined;
}

/** Published once a response has ended, or its cost is given back; the ledger posts it. */
export const usageRecorded = defineEvent<RecordedCharge>({
  topic: 'usage.recorded.v1',
  key: (charge) => charge.accountId,
  payload: UsageRecorded.transform(decodeCharge),
  encode: encodeCharge,
});

/** Makes a request free, whatever was charged for it before or is charged later. */
export const givenBack = (charge: Charge): RecordedCharge => ({ ...emptyCharge(charge), isGivenBack: true });

/** A charge of nothing under the same request. It blocks any other charge of the request. */
export const emptyCharge = (charge: Charge): Charge => ({
  ...charge,
  lines: [],
  cost: NO_MONEY,
  writeOffNano: 0n,
});

export function encodeCharge(charge: RecordedCharge): UsageRecorded {
  const lines: UsageRecorded['lines'] = [];
  for (const { sku, unit, units, priceNanoPerMillion, amountNano, providerNano } of charge.lines)
    lines.push({
      sku,
      unit,
      units,
      priceNanoPerMillion: priceNanoPerMillion.toString(),
      amountNano: amountNano.toString(),
      providerNano: providerNano?.toString(),
    });
  return {
    requestId: charge.requestId,
    accountId: charge.accountId,
    keyId: charge.keyId,
    model: charge.model,
    backend: charge.backend,
    at: charge.at,
    usage: charge.usage,
    lines,
    usdNano: charge.cost.usdNano.toString(),
    diemNano: charge.cost.diemNano.toString(),
    writeOffNano: charge.writeOffNano.toString(),
    durationMs: charge.durationMs,
    endUser: charge.endUser,
    isGivenBack: charge.isGivenBack,
  };
}

export function decodeCharge(usage: UsageRecorded): RecordedCharge {
  const { usdNano, diemNano, lines, writeOffNano, ...rest } = usage;
  return {
    ...rest,
    lines: lines.map(({ sku, unit, units, priceNanoPerMillion, amountNano, providerNano }) => ({
      sku,
      unit: unitOf({ sku, unit }),
      units,
      priceNanoPerMillion: BigInt(priceNanoPerMillion),
      amountNano: BigInt(amountNano),
      providerNano: providerNano === undefined ? undefined : BigInt(providerNano),
    })),
    cost: { usdNano: BigInt(usdNano), diemNano: BigInt(diemNano) },
    writeOffNano: BigInt(writeOffNano),
  };
}
