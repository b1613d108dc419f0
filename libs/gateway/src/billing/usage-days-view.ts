import type { BillingDays } from '@svc/api/billing';
import { type TokenKind, tokenKindOf, usdNumber } from '@svc/contracts/money';
import type { UsageDay } from '@svc/contracts/ports';
import { type ReportNames, shownKeyId } from './usage-report.js';

type Row = BillingDays['data'][number];

/** A row for each day, key and model, oldest first. */
export function usageDaysView(sums: readonly UsageDay[], names: ReportNames): Row[] {
  const groups = Map.groupBy(sums, ({ day, keyId, model }) => JSON.stringify([day, keyId, model]));
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { day: date, keyId, model } = first;
    const all = [first, ...others];
    const tokens = (kind: TokenKind): number | null => {
      const sold = all.filter((sum) => tokenKindOf(model, sum) === kind);
      return sold.length === 0 ? null : sold.reduce((sum, { units }) => sum + Number(units), 0);
    };
    return [
      {
        date,
        apiKeyId: shownKeyId(keyId),
        description: names.keyName(keyId),
        modelName: model,
        modelType: names.modelType(model),
        usd: usdNumber(all.reduce((sum, { usdNano }) => sum + usdNano, 0n)),
        diem: usdNumber(all.reduce((sum, { diemNano }) => sum + diemNano, 0n)),
        inputTokens: tokens('input'),
        outputTokens: tokens('output'),
        cacheReadTokens: tokens('cacheRead'),
        cacheWriteTokens: tokens('cacheWrite'),
      },
    ];
  });
}
