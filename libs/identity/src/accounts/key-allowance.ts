import { type Balances, NO_MONEY, formatUsd } from '@svc/contracts/money';
import { type KeyType, type LimitPeriod, matchesPattern } from '@svc/contracts/ports';
import { type Problem, invalidRequest } from '@svc/contracts/problems';
import type { KeyTerms } from './key-rows.js';
import { contains, networkIn } from './networks.js';

export type KeyLimits = Pick<
  KeyTerms,
  | 'usdLimitNano'
  | 'diemLimitNano'
  | 'limitPeriod'
  | 'requestLimitNano'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'requestsPerDay'
  | 'tokensPerDay'
>;

/** What a key may be used for. */
export type KeyUse = Pick<KeyTerms, 'allowedModels' | 'allowedEndpoints' | 'allowedIps' | 'canInfer'>;

/** The limits of a key before and after a change; a new key has none before. */
export interface LimitChange {
  readonly before: KeyLimits | undefined;
  readonly after: KeyLimits;
}

/**
 * The periods whose amount also bounds what is spent within one of this kind. Weeks and months overlap, so
 * neither bounds the other.
 */
const BOUND_BY: Readonly<Record<LimitPeriod, readonly LimitPeriod[]>> = {
  HOUR: ['HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'],
  EPOCH: ['EPOCH', 'WEEK', 'MONTH', 'LIFETIME'],
  WEEK: ['WEEK', 'LIFETIME'],
  MONTH: ['MONTH', 'LIFETIME'],
  LIFETIME: ['LIFETIME'],
};

/** Whether an amount in the period of some limits bounds what is spent within the period of others. */
const bounds = (limits: KeyLimits, within: KeyLimits): boolean =>
  BOUND_BY[within.limitPeriod].includes(limits.limitPeriod);

/** Limits that a key does not use up by giving them to another one. */
const RATES = [
  { limit: 'requestsPerMinute', path: ['requestsPerMinute'], text: String },
  { limit: 'tokensPerMinute', path: ['tokensPerMinute'], text: String },
  { limit: 'requestsPerDay', path: ['requestsPerDay'], text: String },
  { limit: 'tokensPerDay', path: ['tokensPerDay'], text: String },
  {
    limit: 'requestLimitNano',
    path: ['maxCostPerRequest'],
    text: (nano: number | bigint) => formatUsd(BigInt(nano)),
  },
] as const;

const MONEY = [
  { limit: 'usdLimitNano', currency: 'usdNano', path: ['consumptionLimit', 'usd'] },
  { limit: 'diemLimitNano', currency: 'diemNano', path: ['consumptionLimit', 'diem'] },
] as const;

/** Whether a change lets a key spend more than before. */
export function raisesLimits({ before, after }: { before: KeyLimits; after: KeyLimits }): boolean {
  return (
    RATES.some(({ limit }) => isAbove<number | bigint>(after[limit], before[limit])) ||
    MONEY.some(
      ({ limit }) =>
        before[limit] !== null && (isAbove(after[limit], before[limit]) || !bounds(after, before)),
    )
  );
}

/** Refuses a change by which a key raises its own limits: INVALID_REQUEST. */
export function refuseOwnRaise(before: KeyLimits, after: KeyLimits): void {
  for (const { limit, path, text } of RATES) {
    const own = before[limit];
    if (own !== null && isAbove<number | bigint>(after[limit], own))
      throw refusal(path, `at most its own limit of ${text(own)}`);
  }
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
  for (const { limit, path, text } of RATES) {
    const own = giver[limit];
    const isMore = !before || isAbove<number | bigint>(after[limit], before[limit]);
    if (own !== null && isMore && isAbove<number | bigint>(after[limit], own))
      throw refusal(path, `at most ${text(own)}, the limit of your API key`);
  }
  const given = { ...NO_MONEY };
  for (const { limit, currency, path } of MONEY) {
    const own = giver[limit];
    if (own === null || (before && before[limit] === null)) continue;
    const had = before && bounds(after, before) ? (before[limit] ?? 0n) : 0n;
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

type ListOfUses = Exclude<keyof KeyUse, 'canInfer'>;

/** Whether an entry of a list allows no more than an entry of another one. */
const IS_WITHIN: Readonly<Record<ListOfUses, (entry: string, other: string) => boolean>> = {
  allowedModels: (entry, other) => matchesPattern(other, entry),
  allowedEndpoints: (entry, other) => matchesPattern(other, entry),
  allowedIps: (entry, other) => {
    const [network, wider] = [networkIn(entry), networkIn(other)];
    return network !== undefined && wider !== undefined && contains(wider, network);
  },
};

const isWithin = (use: ListOfUses, entry: string, bounds: readonly string[]): boolean =>
  bounds.some((bound) => IS_WITHIN[use](entry, bound));

const USES = Object.keys(IS_WITHIN) as ListOfUses[];

/** Terms of a new key, with the restrictions of the key that makes it where they have none. */
export function inherited<Terms extends Partial<KeyUse>>(
  giver: KeyUse,
  keyType: KeyType,
  terms: Terms,
): Terms {
  const own = USES.map((use) => [use, terms[use] ?? giver[use]] as const);
  const { canInfer = keyType === 'INFERENCE' || giver.canInfer } = terms;
  return { ...terms, ...Object.fromEntries(own), canInfer };
}

/** Refuses to let a key be used for what another one may not be used for: INVALID_REQUEST. */
export function refuseWider(giver: KeyUse, keyType: KeyType, after: Partial<KeyUse>): void {
  if (keyType === 'ADMIN' && !giver.canInfer && after.canInfer === true)
    throw refusal(['canInfer'], 'false, as for your API key');
  for (const use of USES) {
    const [bounds, entries] = [giver[use], after[use]];
    if (bounds.length === 0 || entries === undefined) continue;
    const wider = entries.find((entry) => !isWithin(use, entry, bounds));
    if (entries.length === 0 || wider !== undefined)
      throw refusal([use], `within what your API key may use: ${bounds.slice(0, SHOWN).join(', ')}`);
  }
}

/** Whether a change lets a key be used for more than before. */
export const widensUse = (before: KeyUse, after: KeyUse): boolean =>
  (after.canInfer && !before.canInfer) ||
  USES.some(
    (use) =>
      before[use].length > 0 &&
      (after[use].length === 0 || after[use].some((entry) => !isWithin(use, entry, before[use]))),
  );

/** Refuses a key that could do nothing at all: INVALID_REQUEST. */
export function refuseUseless(keyType: KeyType, { canInfer }: Partial<KeyUse>): void {
  if (keyType === 'INFERENCE' && canInfer === false) throw refusal(['canInfer'], 'true for an INFERENCE key');
}

/** The most entries in a message. */
const SHOWN = 5;

function refuseShorter(after: KeyLimits, bound: KeyLimits): void {
  if (!bounds(after, bound))
    throw refusal(
      ['limitPeriod'],
      `${BOUND_BY[bound.limitPeriod].join(' or ')}, because your API key has a limit for each ${bound.limitPeriod}`,
    );
}

/** Whether a limit allows more than another; null allows everything. */
function isAbove<Limit extends number | bigint>(limit: Limit | null, other: Limit | null): boolean {
  return other !== null && (limit === null || limit > other);
}

const refusal = (path: readonly string[], bound: string): Problem =>
  invalidRequest([{ code: 'custom', path: [...path], message: `must be ${bound}` }]);
