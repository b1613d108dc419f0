import { z } from 'zod';
import { defineEvent } from './events.js';
import type { Balances } from '../money/money.js';

/** Tokens of one request, as the backend counted them. */
export interface Usage {
  /** All prompt tokens, including cached ones. */
  readonly promptTokens: number;
  /** All generated tokens, including reasoning. */
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** One position of a charge: `units` of `sku` at a price in nano-dollars per million units. */
export interface ChargeLine {
  readonly sku: string;
  readonly units: number;
  readonly priceNanoPerMillion: bigint;
  readonly amountNano: bigint;
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
  lines: z.array(z.object({ sku: z.string(), units: Count, priceNanoPerMillion: Nano, amountNano: Nano })),
  usdNano: Nano,
  diemNano: Nano,
  writeOffNano: Nano,
  durationMs: Count,
});

/** A charge on the wire: every amount is a string of nano-dollars, since JSON has no bigint. */
export type UsageRecorded = z.infer<typeof UsageRecorded>;

/** Published once a response has ended; the ledger posts it. */
export const usageRecorded = defineEvent<UsageRecorded>({
  topic: 'usage.recorded.v1',
  key: (usage) => usage.accountId,
  payload: UsageRecorded,
});

export function encodeCharge(charge: Charge): UsageRecorded {
  const { cost, lines, writeOffNano, ...rest } = charge;
  return {
    ...rest,
    lines: lines.map(({ sku, units, priceNanoPerMillion, amountNano }) => ({
      sku,
      units,
      priceNanoPerMillion: priceNanoPerMillion.toString(),
      amountNano: amountNano.toString(),
    })),
    usdNano: cost.usdNano.toString(),
    diemNano: cost.diemNano.toString(),
    writeOffNano: writeOffNano.toString(),
  };
}

export function decodeCharge(usage: UsageRecorded): Charge {
  const { usdNano, diemNano, lines, writeOffNano, ...rest } = usage;
  return {
    ...rest,
    lines: lines.map(({ sku, units, priceNanoPerMillion, amountNano }) => ({
      sku,
      units,
      priceNanoPerMillion: BigInt(priceNanoPerMillion),
      amountNano: BigInt(amountNano),
    })),
    cost: { usdNano: BigInt(usdNano), diemNano: BigInt(diemNano) },
    writeOffNano: BigInt(writeOffNano),
  };
}
