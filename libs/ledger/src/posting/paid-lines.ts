import type { Charge, ChargeLine } from '@svc/contracts/messages';
import type { KeySpending } from '@svc/hold-book';

/** A line of a charge, and how much of it is paid in each currency. The rest is written off. */
export interface PaidLine {
  readonly charge: Charge;
  readonly line: ChargeLine;
  readonly index: number;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
}

/** Pays the lines of each charge from its cost in their order, DIEM first. */
export function paidLines(charges: readonly Charge[]): PaidLine[] {
  const paid: PaidLine[] = [];
  for (const charge of charges) {
    let { usdNano: usdLeft, diemNano: diemLeft } = charge.cost;
    let index = 0;
    for (const line of charge.lines) {
      const diemNano = smaller(line.amountNano, diemLeft);
      const usdNano = smaller(less(line.amountNano, diemNano), usdLeft);
      diemLeft = less(diemLeft, diemNano);
      usdLeft = less(usdLeft, usdNano);
      paid.push({ charge, line, index, usdNano, diemNano });
      index += 1;
    }
  }
  return paid;
}

/** What lines add to a day (UTC) of an account's key, model and sku. */
export interface UsageSum {
  readonly accountId: string;
  readonly day: string;
  readonly keyId: string;
  readonly model: string;
  readonly sku: string;
  readonly unit: string;
  units: bigint;
  usdNano: bigint;
  diemNano: bigint;
  /** Lines that count as paid in each currency: possibly in both; in USD if nothing was paid. */
  usdEntries: number;
  diemEntries: number;
}

const NOTHING = { units: 0n, usdNano: 0n, diemNano: 0n, usdEntries: 0, diemEntries: 0 };

export function usageSums(lines: readonly PaidLine[]): UsageSum[] {
  const sums: UsageSum[] = [];
  const byKey: ListsByKey<UsageSum> = new Map();
  for (const paid of lines) {
    const { charge, line, usdNano, diemNano } = paid;
    const { accountId, keyId, model } = charge;
    const ofKey = listOf(byKey, accountId, keyId);
    let sum = sumFor(paid, ofKey);
    if (!sum) {
      sum = { accountId, day: dayOf(charge), keyId, model, sku: line.sku, unit: line.unit, ...NOTHING };
      ofKey.push(sum);
      sums.push(sum);
    }
    sum.units += BigInt(line.units);
    if (usdNano > 0n) sum.usdNano += usdNano;
    if (usdNano > 0n || diemNano === 0n) sum.usdEntries += 1;
    if (diemNano === 0n) continue;
    sum.diemNano += diemNano;
    sum.diemEntries += 1;
  }
  return sums;
}

function sumFor({ charge, line }: PaidLine, ofKey: readonly UsageSum[]): UsageSum | undefined {
  const { model, at } = charge;
  for (const sum of ofKey)
    if (sum.sku === line.sku && sum.model === model && at.startsWith(sum.day)) return sum;
  return undefined;
}

/** By account and key. Lists of a key are short: searched, they need no name to be made for each line. */
type ListsByKey<Item> = Map<string, Map<string, Item[]>>;

function listOf<Item>(lists: ListsByKey<Item>, accountId: string, keyId: string): Item[] {
  let ofAccount = lists.get(accountId);
  if (!ofAccount) lists.set(accountId, (ofAccount = new Map<string, Item[]>()));
  let ofKey = ofAccount.get(keyId);
  if (!ofKey) ofAccount.set(keyId, (ofKey = []));
  return ofKey;
}

/** What charges add to a day (UTC) of an end user. */
export interface UserSum {
  readonly accountId: string;
  readonly day: string;
  readonly endUser: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  usdNano: bigint;
  diemNano: bigint;
}

export function userSums(charges: readonly UserCharge[]): UserSum[] {
  const sums = new Map<string, UserSum>();
  for (const { accountId, endUser, usage, cost, at } of charges) {
    const day = at.slice(0, 10);
    const key = `${accountId}\n${day}\n${endUser}`;
    const counted = sums.get(key);
    const sum = counted ?? { accountId, day, endUser, ...NO_SUM };
    if (!counted) sums.set(key, sum);
    sum.requests += 1;
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
    sum.usdNano += cost.usdNano;
    sum.diemNano += cost.diemNano;
  }
  return [...sums.values()];
}

const NO_SUM = { requests: 0, promptTokens: 0, completionTokens: 0, usdNano: 0n, diemNano: 0n };

/** A charge for a request of an end user. */
export type UserCharge = Charge & { readonly endUser: string };

export const hasUser = (charge: Charge): charge is UserCharge => charge.endUser !== undefined;

/** What charges add to the spending of each account's keys and end users, by hour. */
export function keySpendings(charges: readonly Charge[]): Map<string, KeySpending[]> {
  const known: ListsByKey<Spending> = new Map();
  for (const charge of charges) {
    addSpending(known, charge, charge.keyId);
    if (charge.endUser !== undefined) addSpending(known, charge, charge.endUser);
  }
  const byAccount = new Map<string, KeySpending[]>();
  for (const [accountId, ofAccount] of known) byAccount.set(accountId, [...ofAccount.values()].flat());
  return byAccount;
}

type Spending = { -readonly [Name in keyof KeySpending]: KeySpending[Name] };

function addSpending(known: ListsByKey<Spending>, { accountId, cost, at }: Charge, keyId: string): void {
  const ofKey = listOf(known, accountId, keyId);
  for (const spending of ofKey) {
    if (!at.startsWith(spending.hour)) continue;
    spending.usdNano += cost.usdNano;
    spending.diemNano += cost.diemNano;
    return;
  }
  ofKey.push({ keyId, hour: at.slice(0, 13), ...cost });
}

/** A charge's time is in UTC. */
const dayOf = (charge: Charge): string => charge.at.slice(0, 10);

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** A difference of bigints is a new object, even if it is the first of them. */
const less = (a: bigint, b: bigint): bigint => (b === 0n ? a : a - b);
