import { type Balances, NO_MONEY, formatUsd } from '@svc/contracts/money';
import type { LimitPeriod } from '@svc/contracts/ports';
import { type Problem, invalidRequest } from '@svc/contracts/problems';
import type { KeyTerms } from './key-rows.js';

export type KeyLimits = Pick<
  KeyTerms,
  'usdLimitNano' | 'diemLimitNano' | 'limitPeriod' | 'requestsPerMinute' | 'tokensPerMinute'
>;

/** The limits of a key before and after a change; a new key has none before. */
export interface LimitChange {
  readonly before: KeyLimits | undefined;
  readonly after: KeyLimits;
}

/** An amount in a longer period bounds the spending of each shorter one within it. */
const LENGTH: Readonly<Record<LimitPeriod, number>> = { EPOCH: 0, MONTH: 1, LIFETIME: 2 };

const RATES = ['requestsPerMinute', 'tokensPerMinute'] as const;

const MONEY = [
  { limit: 'usdLimitNano', currency: 'usdNano', path: ['consumptionLimit', 'usd'] },
  { limit: 'diemLimitNano', currency: 'diemNano', path: ['consumptionLimit', 'diem'] },
] as const;

/** Whether a change lets a key do more than before. */
export function raisesLimits({ before, after }: { before: KeyLimits; after: KeyLimits }): boolean {
  return (
    RATES.some((rate) => isAbove(after[rate], before[rate])) ||
    MONEY.some(
      ({ limit }) =>
        before[limit] !== null &&
        (isAbove(after[limit], before[limit]) || LENGTH[after.limitPeriod] < LENGTH[before.limitPeriod]),
    )
  );
}

/** Refuses a change by which a key raises its own limits: INVALID_REQUEST. */
export function refuseOwnRaise(before: KeyLimits, after: KeyLimits): void {
  for (const rate of RATES)
    if (isAbove(after[rate], before[rate])) throw refusal([rate], `at most its own limit of ${before[rate]}`);
  for (const { limit, path } of MONEY) {
    const own = before[limit];
    if (own === null) continue;
    if (isAbove(after[limit], own)) throw refusal(path, `at most its own limit of ${formatUsd(own)}`);
    refuseShorter(after, before);
  }
}

/**
 * What a key gives up of its own limits so that another key gets these. It can give no more than it has left.
 * Lower limits need nothing, whatever they were before. Refuses: INVALID_REQUEST.
 */
export function givenUp(giver: KeyLimits, { before, after }: LimitChange, spent: Balances): Balances {
  for (const rate of RATES)
    if (isAbove(after[rate], giver[rate]) && (!before || isAbove(after[rate], before[rate])))
      throw refusal([rate], `at most ${giver[rate]}, the limit of your API key`);
  const given = { ...NO_MONEY };
  for (const { limit, currency, path } of MONEY) {
    const own = giver[limit];
    if (own === null || (before && before[limit] === null)) continue;
    const had =
      before && LENGTH[after.limitPeriod] >= LENGTH[before.limitPeriod] ? (before[limit] ?? 0n) : 0n;
    const wanted = after[limit];
    if (wanted !== null && wanted <= had) continue;
    const spentNano = spent[currency];
    const left = own > spentNano ? own - spentNano : 0n;
    if (wanted === null || wanted - had > left)
      throw refusal(path, `at most ${formatUsd(had + left)}: your API key has no more left to give`);
    refuseShorter(after, giver);
    given[currency] = wanted - had;
  }
  return given;
}

function refuseShorter(after: KeyLimits, bound: KeyLimits): void {
  if (LENGTH[after.limitPeriod] < LENGTH[bound.limitPeriod])
    throw refusal(['limitPeriod'], `${bound.limitPeriod} or longer, as for your API key`);
}

/** Whether a limit allows more than another; null allows everything. */
function isAbove<Limit extends number | bigint>(limit: Limit | null, other: Limit | null): boolean {
  return other !== null && (limit === null || limit > other);
}

const refusal = (path: readonly string[], bound: string): Problem =>
  invalidRequest([{ code: 'custom', path: [...path], message: `must be ${bound}` }]);
