import { type Currency, unitOf } from '@svc/contracts/money';
import type { UsageEntry, UsagePlace } from '@svc/contracts/ports';

/** A line of a charge, seen from one of the currencies that paid it. */
export interface EntryRow {
  readonly at: Date;
  readonly request_id: string;
  readonly line: number;
  readonly currency: Currency;
  readonly key_id: string;
  readonly model: string;
  readonly sku: string;
  readonly unit: string | null;
  readonly units: bigint;
  readonly price_nano_per_million: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly duration_ms: bigint;
}

export function usageEntry(row: EntryRow): UsageEntry {
  return {
    at: row.at,
    requestId: row.request_id,
    keyId: row.key_id,
    model: row.model,
    sku: row.sku,
    unit: unitOf(row),
    units: unitsPaid(row),
    priceNanoPerMillion: row.price_nano_per_million,
    amountNano: row.currency === 'DIEM' ? row.diem_nano : row.usd_nano,
    currency: row.currency,
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    durationMs: Number(row.duration_ms),
  };
}

export function placeOf({ at, request_id: requestId, line, currency }: EntryRow): UsagePlace {
  return { at, requestId, line, currency };
}

/**
 * The currency's share of a line's units, proportional to the payments. The shares add up to the line's
 * units.
 */
function unitsPaid({ units, usd_nano: usdNano, diem_nano: diemNano, currency }: EntryRow): bigint {
  if (usdNano === 0n || diemNano === 0n) return units;
  const paidInDiem = (units * diemNano) / (usdNano + diemNano);
  return currency === 'DIEM' ? paidInDiem : units - paidInDiem;
}
