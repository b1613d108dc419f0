import type { BillingEntry } from '@svc/api/billing';
import { type UsageEntry, isConsole, nameWithoutKey } from '@svc/contracts/ports';
import { formatUsd, tierOfSku, unitView, usdNumber } from '@svc/contracts/money';
import { stringify } from 'csv-stringify/sync';

const sizeOf = ({ unit }: UsageEntry): number => unitView(unit).size;

const unitPriceNano = (entry: UsageEntry): bigint =>
  (entry.priceNanoPerMillion * BigInt(sizeOf(entry))) / 1_000_000n;

const notesOf = ({ keyId }: UsageEntry): string =>
  isConsole(keyId) ? nameWithoutKey(keyId) : 'API Inference';

/** The tokens of a request; a model that has none, such as one for speech, reports zeros. */
export function tokensOf({ promptTokens, completionTokens }: UsageEntry) {
  const hasTokens = promptTokens !== 0 || completionTokens !== 0;
  return hasTokens ? { promptTokens, completionTokens } : { promptTokens: null, completionTokens: null };
}

export function usageEntryView(entry: UsageEntry): BillingEntry {
  const serviceTier = tierOfSku(entry.sku);
  return {
    timestamp: entry.at.toISOString(),
    sku: entry.sku,
    units: Number(entry.units) / sizeOf(entry),
    pricePerUnitUsd: usdNumber(unitPriceNano(entry)),
    amount: usdNumber(-entry.amountNano),
    currency: entry.currency,
    notes: notesOf(entry),
    inferenceDetails: {
      requestId: entry.requestId,
      ...tokensOf(entry),
      inferenceExecutionTime: entry.durationMs,
      ...(serviceTier && { serviceTier }),
    },
  };
}

const CSV_COLUMNS = [
  'timestamp',
  'sku',
  'pricePerUnitUsd',
  'units',
  'amount',
  'currency',
  'notes',
  'inferenceDetails.requestId',
  'inferenceDetails.inferenceExecutionTime',
  'inferenceDetails.promptTokens',
  'inferenceDetails.completionTokens',
];

/**
 * The entries as CSV. Numbers are plain decimals without trailing digits, which every spreadsheet can read.
 */
export function usageCsv(entries: readonly UsageEntry[]): string {
  const rows = entries.map((entry) => {
    const { promptTokens, completionTokens } = tokensOf(entry);
    return [
      entry.at.toISOString(),
      entry.sku,
      formatUsd(unitPriceNano(entry)),
      // As a number with nine decimals.
      formatUsd(entry.units * BigInt(1e9 / sizeOf(entry))),
      formatUsd(-entry.amountNano),
      entry.currency,
      notesOf(entry),
      entry.requestId,
      entry.durationMs,
      promptTokens,
      completionTokens,
    ];
  });
  return stringify(rows, { header: true, columns: CSV_COLUMNS });
}
