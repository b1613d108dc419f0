import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Balances, totalNano, usdNumber } from '@svc/contracts/money';
import type { Extension, Hold, HoldRequest, OpenHold, SpendingLimit } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { DeadlineExceeded, type RootLogger, within } from '@svc/runtime';
import { money } from '@svc/telemetry';
import type { BookReads } from './hold-accounts.js';
import type { HoldMarks } from './hold-marks.js';
import type { HoldSteps, StepName, StepReply } from './hold-steps.js';
import { RecentIds } from './recent-ids.js';
import { boundsOf, ownerOf } from './spendable.js';
import { type AccountPosting, type BudgetOwner, HoldBook } from './hold-book.js';

export interface RedisHoldBookOptions {
  /** A hold that is not renewed lapses after this time. */
  readonly leaseMs: number;
  /**
   * Maximum number of an account's holds, including settled ones that wait for their posting. Beyond it
   * `hold` rejects.
   */
  readonly maxHolds: number;
  /** Timeout of a step on Redis. */
  readonly waitMs: number;
  /** How long a step waits for required reads of the books; default: 4 s. */
  readonly readMs?: number;
  /** The UTC hour, such as `2026-11-21T13`. */
  readonly hour?: () => string;
}

/** Maximum number of requests remembered whose lost hold was counted. */
const MAX_GONE_IDS = 100_000;

type Loads = Map<string, Promise<void>>;

/** How often a step is tried, as others may undo its preconditions each time. */
const READY_ATTEMPTS = 6;
/** Less than callers in other processes wait: a hold taken after its caller gave up would be useless. */
const READ_MS = 4_000;
/** How often a key's spending is read, as a posting may overtake each read. */
const KEY_READS = 5;
/** Resetting an account's DIEM takes one transaction. */
const DIEM_CHANGE_WAIT_MS = 2_000;
const DIEM_CHANGE_ASK_MS = 20;

/**
 * The hold book of any number of processes, on Redis. Every step is a script, so it is atomic and takes one
 * round trip. Missing accounts are read from the books first. The marks show when Redis has lost data.
 */
export class RedisHoldBook extends HoldBook {
  private readonly loads: Loads = new Map();
  private readonly budgetLoads: Loads = new Map();
  private readonly hour: () => string;
  private readonly goneIds: RecentIds;
  /** Holds since the start that lapsed and could not be taken again: their money may be authorised twice. */
  readonly gone = { holds: 0, nano: 0n };

  constructor(
    private readonly steps: HoldSteps,
    private readonly parts: {
      readonly reads: BookReads;
      readonly marks: HoldMarks;
      readonly log: Pick<RootLogger['log'], 'error'>;
    },
    private readonly options: RedisHoldBookOptions,
  ) {
    super();
    this.goneIds = new RecentIds(options.leaseMs, MAX_GONE_IDS);
    this.hour = options.hour ?? (() => new Date().toISOString().slice(0, 13));
  }

  override async hold(request: HoldRequest): Promise<Hold> {
    const { requestId, keyId, amountNano, atLeastNano = amountNano, preferredNano } = request;
    assert(amountNano >= 0n, 'a hold is not negative');
    const limit = limitsText(request);
    const amounts = [amountNano, atLeastNano, preferredNano ?? ''].map(String);
    const args = [requestId, keyId, ...amounts, limit, this.options.maxHolds];
    return heldOf(request, await this.whenReady('hold', request, args));
  }

  override async available(accountId: string): Promise<Balances> {
    const [, usd, diem] = await this.whenReady('available', { accountId, keyId: '' }, []);
    return balances(usd, diem);
  }

  override async open(accountId: string, limit: number): Promise<readonly OpenHold[]> {
    const [, ...values] = await this.ask('openHolds', accountId, [limit]);
    return Array.from({ length: values.length / OPEN_HOLD_VALUES }, (_, index) => {
      const at = index * OPEN_HOLD_VALUES;
      const [requestId = '', keyId = '', usd, diem, leftMs] = values.slice(at, at + OPEN_HOLD_VALUES);
      return { requestId, keyId, amount: balances(usd, diem), leftMs: Number(leftMs) };
    });
  }

  override async holdRest(accountId: string, requestId: string): Promise<bigint> {
    const [, diem = '0'] = await this.whenReady('holdRest', { accountId, keyId: '' }, [requestId]);
    return BigInt(diem);
  }

  override async extend(hold: Hold, { moreNano, atLeastNano = moreNano }: Extension): Promise<Hold> {
    assert(moreNano >= 0n, 'a hold only grows');
    const args = [...holdArgs(hold), String(moreNano), String(atLeastNano)];
    const reply = await this.whenReady('extend', hold, args);
    if (reply[0] === 'gone') {
      this.logGone([hold]);
      throw new Problem('INSUFFICIENT_BALANCE');
    }
    assert(reply[0] !== 'settled', 'a settled hold does not grow');
    return heldOf(hold, reply);
  }

  override async settle(hold: Hold, cost: Balances): Promise<void> {
    await this.whenReady('settle', hold, [...holdArgs(hold), String(cost.usdNano), String(cost.diemNano)]);
  }

  override async release({ accountId, requestId }: Hold): Promise<void> {
    await this.ask('release', accountId, [requestId]);
  }

  override async renew(holds: readonly Hold[]): Promise<void> {
    const byAccount = Map.groupBy(holds, ({ accountId }) => accountId);
    const renewals = Array.from(byAccount, ([accountId, of]) => this.renewOf(accountId, of));
    // Waits for all, because the caller must know that no renewal is still on its way.
    const fault = (await Promise.allSettled(renewals)).find(({ status }) => status === 'rejected');
    if (fault?.status === 'rejected') throw fault.reason;
  }

  override async post(postings: readonly AccountPosting[]): Promise<void> {
    await Promise.all(
      postings.map(({ accountId, balances: { usdNano, diemNano }, version, requestIds, spends }) =>
        this.ask('post', accountId, [
          ...[version, usdNano, diemNano, requestIds.length].map(String),
          ...requestIds,
          spends?.length ?? -1,
          ...(spends ?? []).flatMap(({ keyId, hour, ...spent }) => [
            keyId,
            hour,
            String(spent.usdNano),
            String(spent.diemNano),
          ]),
        ]),
      ),
    );
  }

  /** A lapsed hold is taken again once its key's spending is loaded. */
  private async renewOf(accountId: string, holds: readonly Hold[]): Promise<void> {
    let left = holds;
    for (let attempt = 1; attempt <= 2 && left.length > 0; attempt += 1) {
      const [, ...outcomes] = await this.whenReady('renew', { accountId, keyId: '' }, left.flatMap(holdArgs));
      const that = (outcome: string): Hold[] => left.filter((_hold, index) => outcomes[index] === outcome);
      this.logGone(that('gone'));
      left = that('stale');
      const bounds = new Map(left.flatMap(boundsOf).map((bound) => [bound.id, bound]));
      for (const bound of bounds.values())
        await this.loadBudget(accountId, ownerOf(bound)).catch(() => undefined);
    }
  }

  /** Reports each hold once, although it comes again with every renewal. */
  private logGone(holds: readonly Hold[]): void {
    const now = performance.now();
    const fresh = holds.filter(({ requestId }) => !this.goneIds.has(requestId, now));
    if (fresh.length === 0) return;
    for (const { requestId, amount } of fresh) {
      this.goneIds.add(requestId, now);
      this.gone.nano += totalNano(amount);
      money.lostAmount.add(usdNumber(amount.usdNano), 'USD');
      money.lostAmount.add(usdNumber(amount.diemNano), 'DIEM');
    }
    this.gone.holds += fresh.length;
    money.holdsLost.add(fresh.length);
    this.parts.log.error(
      { accountId: fresh[0]?.accountId, holds: fresh.length, ...amountsOf(fresh) },
      'Redis lost holds and other requests now hold the same money, so it may be spent twice',
    );
  }

  /** Runs a step after its preconditions. Rejects as the step does, and with UNAVAILABLE. */
  private async whenReady(
    name: StepName,
    asker: Asker,
    args: readonly (string | number)[],
  ): Promise<StepReply> {
    const { accountId } = asker;
    const startMs = performance.now();
    const waitUntilMs = startMs + DIEM_CHANGE_WAIT_MS;
    const readUntilMs = startMs + (this.options.readMs ?? READ_MS);
    for (let attempt = 1; attempt <= READY_ATTEMPTS; attempt += 1) {
      const reply = await this.ask(name, accountId, args);
      switch (reply[0]) {
        case 'miss':
          await before(
            readUntilMs,
            once(this.loads, accountId, () => this.load(accountId)),
          );
          continue;
        case 'stale':
          await before(readUntilMs, this.loadBudget(accountId, staleOf(reply)));
          continue;
        case 'wait':
          if (performance.now() > waitUntilMs) throw unavailable("an account's DIEM is being set");
          await sleep(DIEM_CHANGE_ASK_MS);
          attempt -= 1;
          continue;
        case 'full':
          throw unavailable('the account holds for too many requests');
        case 'short':
          throw new Problem(shortCode(reply[1]), { isProvisional: reply[2] === '1' });
        case undefined:
        default:
          return reply;
      }
    }
    throw unavailable('what an account has changes too often');
  }

  private async load(accountId: string): Promise<void> {
    const mark = await this.parts.marks.of(accountId);
    const { balances: has, version } = await this.read(this.parts.reads.balances(accountId));
    const args = [...[version, has.usdNano, has.diemNano].map(String), mark];
    // If Redis lost its data in between, the load returns `lost`, the step misses again and this is repeated.
    await this.ask('load', accountId, args);
  }

  private loadBudget(accountId: string, owner: BudgetOwner): Promise<void> {
    return once(this.budgetLoads, `${accountId} ${owner.id} ${owner.isHourly}`, async () => {
      for (let read = 1; read <= KEY_READS; read += 1) {
        const now = this.hour();
        const { version, hour, epoch, week, month, lifetime } = await this.read(
          this.parts.reads.spentOf(accountId, owner, now),
        );
        if (this.hour() !== now) continue;
        const spent = [epoch, week, month, lifetime, ...(hour ? [hour] : [])].flatMap(
          ({ usdNano, diemNano }) => [usdNano, diemNano],
        );
        const args = [owner.id, String(version), now, ...spent.map(String)];
        const [outcome] = await this.ask('budget', accountId, args);
        // The read misses what was posted since.
        if (outcome !== 'old') return;
      }
      throw unavailable('the spending of a key could not be read');
    });
  }

  private read<Value>(reading: Promise<Value>): Promise<Value> {
    return reading.catch((error: unknown) => {
      throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
    });
  }

  private async ask(
    name: StepName,
    accountId: string,
    args: readonly (string | number)[],
  ): Promise<StepReply> {
    const { leaseMs, waitMs } = this.options;
    const reply = this.steps.take(name, accountId, [leaseMs, this.hour(), ...args]);
    try {
      return await within(waitMs, reply);
    } catch (error) {
      // A hold taken after the timeout has no user, and would stay for a whole lease.
      if (name === 'hold' && error instanceof DeadlineExceeded)
        reply
          .then(() => this.steps.take('release', accountId, [leaseMs, '', args[0] ?? '']))
          .catch(() => undefined);
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}

/** What the script returns for each open hold. */
const OPEN_HOLD_VALUES = 5;

type Asker = Pick<HoldRequest, 'accountId' | 'keyId'>;

const staleOf = ([, id = '', period]: StepReply): BudgetOwner => ({ id, isHourly: period === 'HOUR' });

const unavailable = (reason: string): Problem => new Problem('UNAVAILABLE', { cause: new Error(reason) });

/** Waits for a read until a deadline. The read continues for other callers. */
function before(untilMs: number, reading: Promise<void>): Promise<void> {
  const waitMs = Math.max(0, untilMs - performance.now());
  return within(waitMs, reading, () => unavailable('the books do not respond'));
}

/** Runs an operation once for all concurrent callers. */
function once(under: Loads, name: string, begin: () => Promise<void>): Promise<void> {
  const known = under.get(name);
  if (known) return known;
  const begun = begin().finally(() => under.delete(name));
  under.set(name, begun);
  return begun;
}

/** The limits of a key and an end user, as the scripts read them. */
function limitsText({ keyLimit, userLimit }: Pick<Hold, 'keyLimit' | 'userLimit'>): string {
  if (!keyLimit && !userLimit) return '';
  const user = userLimit && { id: userLimit.endUser, ...amountsIn(userLimit) };
  return JSON.stringify({ ...(keyLimit && amountsIn(keyLimit)), ...(user && { user }) });
}

const amountsIn = ({ period, usdNano, diemNano }: SpendingLimit): WrittenLimit => ({
  period,
  usd: usdNano?.toString(),
  diem: diemNano?.toString(),
});

interface WrittenLimit {
  readonly period: SpendingLimit['period'];
  readonly usd?: string | undefined;
  readonly diem?: string | undefined;
}

function limitsOf(text: string): Pick<Hold, 'keyLimit' | 'userLimit'> {
  const { user, ...key } = JSON.parse(text) as Partial<WrittenLimit> & {
    user?: WrittenLimit & { id: string };
  };
  const { period } = key;
  return {
    ...(period && { keyLimit: limitOf({ ...key, period }) }),
    ...(user && { userLimit: { endUser: user.id, ...limitOf(user) } }),
  };
}

const limitOf = ({ period, usd, diem }: WrittenLimit): SpendingLimit => ({
  period,
  ...(usd !== undefined && { usdNano: BigInt(usd) }),
  ...(diem !== undefined && { diemNano: BigInt(diem) }),
});

/** A hold as arguments of the scripts. */
function holdArgs(hold: Hold): string[] {
  const { requestId, keyId, amount, before } = hold;
  const amounts = [amount.usdNano, amount.diemNano, before.usdNano, before.diemNano];
  return [requestId, keyId, ...amounts.map(String), limitsText(hold)];
}

/** The sum of the holds, formatted for the log. */
function amountsOf(holds: readonly Hold[]): { usdNano: string; diemNano: string } {
  const sum = (currency: 'usdNano' | 'diemNano'): string =>
    holds.reduce((total, { amount }) => total + amount[currency], 0n).toString();
  return { usdNano: sum('usdNano'), diemNano: sum('diemNano') };
}

const balances = (usd = '0', diem = '0'): Balances => ({ usdNano: BigInt(usd), diemNano: BigInt(diem) });

function heldOf({ requestId, accountId }: { requestId: string; accountId: string }, reply: StepReply): Hold {
  const [, keyId = '', usd, diem, beforeUsd, beforeDiem, limit = ''] = reply;
  return {
    requestId,
    accountId,
    keyId,
    amount: balances(usd, diem),
    before: balances(beforeUsd, beforeDiem),
    ...(limit !== '' && limitsOf(limit)),
  };
}

const SHORT = [
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
  'END_USER_SPEND_LIMIT_EXCEEDED',
] as const;

function shortCode(reply: string | undefined): (typeof SHORT)[number] {
  const code = SHORT.find((one) => one === reply);
  assert(code, 'a code of the script');
  return code;
}
