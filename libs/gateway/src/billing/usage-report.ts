import type { BillingAnalytics } from '@svc/api/billing';
import { type TokenKind, tokenSkus, unitView, usdNumber } from '@svc/contracts/money';
import { type UsageDay, isOfKey } from '@svc/contracts/ports';
import { type Days, eachDay } from './usage-period.js';

/** The names of models and keys in a report. */
export interface ReportNames {
  /** The type of a model; null if it is no longer offered. */
  readonly modelType: (id: string) => string | null;
  /** The name of a key; unique per key. */
  readonly keyName: (id: string) => string;
}

interface Sum {
  usdNano: bigint;
  diemNano: bigint;
  units: bigint;
}

type Report = BillingAnalytics;
type Part = NonNullable<Report['byModel'][number]['breakdown']>[number]['type'];

/** The parts of the usage of a text model, each with the kind of its tokens. */
const PARTS: readonly (readonly [Part, TokenKind])[] = [
  ['Input', 'input'],
  ['Output', 'output'],
  ['Cache Read', 'cacheRead'],
  ['Cache Write', 'cacheWrite'],
];

/** The id of the key that spent something; null if none did. */
export const shownKeyId = (keyId: string): string | null => (isOfKey(keyId) ? keyId : null);

/** Creates the report of usage over some days, with series of the `top` models and keys. */
export function usageReport(
  sums: readonly UsageDay[],
  { days, top }: { readonly days: Days; readonly top: number },
  names: ReportNames,
): Report {
  const topModels = dearest(sums, ({ model }) => model)
    .slice(0, top)
    .map(([model]) => model);
  const keys = dearest(sums, ({ keyId }) => keyId);
  const topKeys = keys.slice(0, top).map(([keyId]) => keyId);
  return {
    lookback: `${days.count}d`,
    byDate: byDate(sums, days),
    byModel: byModel(sums, names),
    byModelDaily: daily(sums, days, { top: topModels, of: ({ model }) => model, nameOf: (id) => id }),
    topModels,
    byKey: keys.map(([keyId, sum]) => ({
      apiKeyId: shownKeyId(keyId),
      description: names.keyName(keyId),
      ...totals(sum),
    })),
    byKeyDaily: daily(sums, days, { top: topKeys, of: ({ keyId }) => keyId, nameOf: names.keyName }),
    topKeyNames: topKeys.map(names.keyName),
  };
}

function byDate(sums: readonly UsageDay[], days: Days): Report['byDate'] {
  const found = summed(sums, ({ day }) => day);
  return eachDay(days).map((date) => {
    const { usdNano, diemNano } = found.get(date) ?? nothing();
    return { date, USD: usdNumber(usdNano), DIEM: usdNumber(diemNano) };
  });
}

function byModel(sums: readonly UsageDay[], names: ReportNames): Report['byModel'] {
  const rowOf = ({ model, unit }: UsageDay): string => JSON.stringify([model, unit]);
  const rows = Map.groupBy(sums, rowOf);
  return dearest(sums, rowOf).map(([row, sum]) => {
    const [modelName, unit] = JSON.parse(row) as [string, string];
    const { shownAs: unitType, size } = unitView(unit);
    const breakdown = PARTS.flatMap(([type, kind]) => {
      const skus = tokenSkus(modelName, kind);
      const sold = (rows.get(row) ?? []).filter(({ sku }) => skus.includes(sku));
      const part = summed(sold, () => type).get(type);
      if (!part) return [];
      return [{ type, usd: usdNumber(part.usdNano), diem: usdNumber(part.diemNano), units: mtokens(part) }];
    });
    return {
      modelName,
      unitType,
      modelType: names.modelType(modelName),
      ...totals(sum),
      totalUnits: Number(sum.units) / size,
      ...(breakdown.length > 0 && { breakdown }),
    };
  });
}

interface Series {
  readonly top: readonly string[];
  readonly of: (sum: UsageDay) => string;
  readonly nameOf: (id: string) => string;
}

function daily(sums: readonly UsageDay[], days: Days, { top, of, nameOf }: Series): Report['byModelDaily'] {
  const found = summed(sums, (sum) => JSON.stringify([sum.day, of(sum)]));
  return eachDay(days).map((day) => {
    const spent = top.map((id) => {
      const { usdNano, diemNano } = found.get(JSON.stringify([day, id])) ?? nothing();
      return [nameOf(id), usdNumber(usdNano + diemNano)] as const;
    });
    return { ...Object.fromEntries(spent), date: Date.parse(day) };
  });
}

const nothing = (): Sum => ({ usdNano: 0n, diemNano: 0n, units: 0n });

function summed(sums: readonly UsageDay[], groupOf: (sum: UsageDay) => string): Map<string, Sum> {
  const groups = new Map<string, Sum>();
  for (const sum of sums) {
    const group = groupOf(sum);
    const whole = groups.get(group) ?? nothing();
    whole.usdNano += sum.usdNano;
    whole.diemNano += sum.diemNano;
    whole.units += sum.units;
    groups.set(group, whole);
  }
  return groups;
}

/** Groups with their sums, by descending cost in both currencies together, then by name. */
function dearest(sums: readonly UsageDay[], groupOf: (sum: UsageDay) => string): [string, Sum][] {
  const costOf = ([, { usdNano, diemNano }]: [string, Sum]): bigint => usdNano + diemNano;
  return [...summed(sums, groupOf)].toSorted((a, b) => {
    const difference = costOf(b) - costOf(a);
    if (difference !== 0n) return difference > 0n ? 1 : -1;
    return a[0] < b[0] ? -1 : 1;
  });
}

function totals(sum: Sum): { totalUsd: number; totalDiem: number; totalUnits: number } {
  return {
    totalUsd: usdNumber(sum.usdNano),
    totalDiem: usdNumber(sum.diemNano),
    totalUnits: mtokens(sum),
  };
}

const mtokens = ({ units }: Sum): number => Number(units) / 1e6;
