import assert from 'node:assert/strict';
import type { Balances } from '@svc/contracts/money';
import type { Hold } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import { type HoldBookSubject, readsOf } from './hold-book-subject.js';
import type { AccountPosting, HoldBook } from '../src/hold-book.js';

const LEASE_MS = 100;
const ACCOUNTS = ['a', 'b', 'c'];

/** A request as its caller and an omniscient observer see it. */
interface Request {
  hold: Hold;
  /** The lease does not end before this time. */
  liveUntilMs: number;
  state: 'held' | 'recorded' | 'settled' | 'released';
  cost: Balances;
}

interface Recorded {
  readonly requestId: string;
  readonly accountId: string;
  readonly cost: Balances;
}

interface DatabaseAccount {
  usdNano: bigint;
  diemNano: bigint;
  version: bigint;
}

type Step =
  | { do: 'hold'; account: number; amount: number }
  | { do: 'extend'; request: number; more: number }
  | { do: 'record'; request: number; usdPart: number; diemPart: number }
  | { do: 'settle' | 'recordAgain' | 'release' | 'releaseLate'; request: number }
  | { do: 'renew' | 'deliverAll' | 'race' }
  | { do: 'post'; events: number; again: number }
  | { do: 'deliver'; message: number; keep: boolean }
  | { do: 'credit'; account: number; usd: number; diem: number }
  | { do: 'wait'; ms: number };

const index = fc.nat({ max: 40 });

/** Steps of one kind, with their weight. */
const often = (weight: number, name: Step['do'], fields: Record<string, fc.Arbitrary<unknown>> = {}) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name), ...fields }) as fc.Arbitrary<Step>,
});
const upTo = (max: number): fc.Arbitrary<number> => fc.nat({ max });

const step: fc.Arbitrary<Step> = fc.oneof(
  often(8, 'hold', { account: index, amount: upTo(60) }),
  often(4, 'extend', { request: index, more: upTo(40) }),
  often(6, 'record', { request: index, usdPart: upTo(100), diemPart: upTo(100) }),
  often(6, 'settle', { request: index }),
  often(1, 'recordAgain', { request: index }),
  often(2, 'release', { request: index }),
  often(1, 'releaseLate', { request: index }),
  often(2, 'renew'),
  often(1, 'race'),
  often(5, 'post', { events: upTo(5), again: upTo(3) }),
  often(6, 'deliver', { message: index, keep: fc.boolean() }),
  often(1, 'deliverAll'),
  often(3, 'credit', { account: index, usd: upTo(100), diem: upTo(40) }),
  often(2, 'wait', { ms: upTo(60) }),
);

/**
 * A hold book with a simulated database and event log, and messages that arrive late, twice and in any order.
 */
class HoldFixture {
  private nowMs = 1_000_000;
  private requestCount = 0;
  private readonly database = new Map<string, DatabaseAccount>();
  private readonly requests = new Map<string, Request>();
  private readonly log: Recorded[] = [];
  private posted = 0;
  private readonly postedIds = new Set<string>();
  /** Requests whose posting the book received, and when first. */
  private readonly heard = new Map<string, number>();
  /** A posting is remembered for a lease: a settle after that holds money back, for another lease. */
  private keptBackUntilMs = 0;
  private messages: AccountPosting[] = [];
  private raceNext = false;
  private writtenOffNano = 0n;
  /** A recorded, unposted charge had no hold in the book: its cost could be spent again. */
  private unguarded = false;

  private readonly book: HoldBook;

  constructor(private readonly subject: HoldBookSubject) {
    this.book = subject.make(
      readsOf((accountId) => this.load(accountId)),
      { leaseMs: LEASE_MS, maxHolds: 1_000, nowMs: () => this.nowMs },
    );
    for (const accountId of ACCOUNTS)
      this.database.set(accountId, { usdNano: 50n, diemNano: 20n, version: 1n });
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      await this.take(each);
      for (const accountId of ACCOUNTS) await this.check(accountId);
    }
    await this.end();
  }

  private async take(each: Step): Promise<void> {
    switch (each.do) {
      case 'hold':
        return this.hold(accountAt(each.account), BigInt(each.amount));
      case 'extend':
        return this.extend(this.requestAt(each.request, 'held'), BigInt(each.more));
      case 'record':
        return this.record(this.requestAt(each.request, 'held'), each);
      case 'settle':
        return this.settle(this.requestAt(each.request, 'recorded'));
      case 'recordAgain':
        return this.recordAgain(this.requestAt(each.request, 'settled'));
      case 'release':
        return this.release(this.requestAt(each.request, 'held'));
      case 'releaseLate':
        return this.releaseLate(this.requestAt(each.request, 'settled'));
      case 'renew':
        return this.renew();
      case 'race':
        this.raceNext = true;
        return;
      case 'post':
        return this.post(each.events, each.again);
      case 'deliver':
        return this.deliver(each.message, each.keep);
      case 'deliverAll':
        return this.deliverAll();
      case 'credit':
        return this.credit(accountAt(each.account), each);
      case 'wait':
        this.wait(each.ms);
        return;
    }
  }

  private async hold(accountId: string, amountNano: bigint): Promise<void> {
    const left = await this.available(accountId);
    const request = { requestId: `r${(this.requestCount += 1)}`, accountId, keyId: 'k', amountNano };
    const hold = await orRefused(this.book.hold(request));
    assert.equal(hold === undefined, total(left) < amountNano);
    if (!hold) return;
    const diemNano = left.diemNano < amountNano ? left.diemNano : amountNano;
    assert.deepEqual(hold.amount, { diemNano, usdNano: amountNano - diemNano });
    assert.deepEqual(await this.book.hold(request), hold);
    this.requests.set(hold.requestId, {
      hold,
      liveUntilMs: this.nowMs + LEASE_MS,
      state: 'held',
      cost: { usdNano: 0n, diemNano: 0n },
    });
  }

  private async extend(request: Request | undefined, moreNano: bigint): Promise<void> {
    if (!request || !this.isLive(request)) return;
    const left = await this.available(request.hold.accountId);
    const grown = await orRefused(this.book.extend(request.hold, { moreNano }));
    assert.equal(grown === undefined, total(left) < moreNano);
    if (!grown) return;
    assert.equal(total(grown.amount), total(request.hold.amount) + moreNano);
    request.hold = grown;
    request.liveUntilMs = this.nowMs + LEASE_MS;
  }

  /** Makes the charge durable. The book is updated later. */
  private record(request: Request | undefined, parts: { usdPart: number; diemPart: number }): Promise<void> {
    if (!request) return Promise.resolve();
    const { amount, requestId, accountId } = request.hold;
    request.cost = {
      usdNano: (amount.usdNano * BigInt(parts.usdPart)) / 100n,
      diemNano: (amount.diemNano * BigInt(parts.diemPart)) / 100n,
    };
    request.state = 'recorded';
    this.log.push({ requestId, accountId, cost: request.cost });
    if (!this.isLive(request)) this.unguarded = true;
    return Promise.resolve();
  }

  private async settle(request: Request | undefined): Promise<void> {
    if (!request) return;
    request.state = 'settled';
    const heardMs = this.heard.get(request.hold.requestId);
    if (heardMs !== undefined && this.nowMs >= heardMs + LEASE_MS)
      this.keptBackUntilMs = this.nowMs + LEASE_MS;
    await this.book.settle(request.hold, request.cost);
  }

  private async recordAgain(request: Request | undefined): Promise<void> {
    if (!request) return;
    const { requestId, accountId } = request.hold;
    this.log.push({ requestId, accountId, cost: request.cost });
    await this.book.settle(request.hold, request.cost);
  }

  private async release(request: Request | undefined): Promise<void> {
    if (!request) return;
    request.state = 'released';
    await this.book.release(request.hold);
  }

  /** Releasing a settled hold has no effect. */
  private async releaseLate(request: Request | undefined): Promise<void> {
    if (request) await this.book.release(request.hold);
  }

  private async renew(): Promise<void> {
    const live = this.inState('held').filter((request) => this.isLive(request));
    await this.book.renew(live.map(({ hold }) => hold));
    for (const request of live) request.liveUntilMs = this.nowMs + LEASE_MS;
  }

  /** Posts the next events in one transaction, and some recent ones again. */
  private post(events: number, again: number): Promise<void> {
    const from = Math.max(0, this.posted - again);
    const batch = this.log.slice(from, this.posted + events);
    this.posted = Math.min(this.log.length, this.posted + events);
    const touched = new Map<string, string[]>();
    for (const { requestId, accountId, cost } of batch) {
      const requestIds = touched.get(accountId) ?? [];
      touched.set(accountId, [...requestIds, requestId]);
      if (this.postedIds.has(requestId)) continue;
      this.postedIds.add(requestId);
      const account = this.accountOf(accountId);
      const paid = {
        usdNano: min(cost.usdNano, account.usdNano),
        diemNano: min(cost.diemNano, account.diemNano),
      };
      this.writtenOffNano += total(cost) - total(paid);
      account.usdNano -= paid.usdNano;
      account.diemNano -= paid.diemNano;
      account.version += 1n;
    }
    for (const [accountId, requestIds] of touched) this.messages.push(this.messageOf(accountId, requestIds));
    return Promise.resolve();
  }

  private credit(accountId: string, { usd, diem }: { usd: number; diem: number }): Promise<void> {
    const account = this.accountOf(accountId);
    account.usdNano += BigInt(usd);
    account.diemNano += BigInt(diem);
    account.version += 1n;
    this.messages.push(this.messageOf(accountId, []));
    return Promise.resolve();
  }

  private async deliver(at: number, keep: boolean): Promise<void> {
    const message = this.messages[at % Math.max(1, this.messages.length)];
    if (!message) return;
    if (!keep) this.messages = this.messages.filter((other) => other !== message);
    await this.tell([message]);
  }

  private async deliverAll(): Promise<void> {
    const messages = this.messages;
    this.messages = [];
    await this.tell(messages);
  }

  private async tell(messages: readonly AccountPosting[]): Promise<void> {
    for (const requestId of messages.flatMap(({ requestIds }) => requestIds))
      if (!this.heard.has(requestId)) this.heard.set(requestId, this.nowMs);
    await this.book.post(messages);
  }

  private wait(ms: number): void {
    this.nowMs += ms;
    for (const request of this.inState('recorded'))
      if (!this.isLive(request) && !this.heard.has(request.hold.requestId)) this.unguarded = true;
  }

  /** The book never grants money twice, nor beyond the balance. */
  private async check(accountId: string): Promise<void> {
    const account = this.accountOf(accountId);
    assert(account.usdNano >= 0n && account.diemNano >= 0n, 'a balance is negative');
    const left = await this.available(accountId);
    if (this.unguarded) return;
    const owed = this.owedBy(accountId);
    assert(covers(account, owed), 'more is held than there is');
    assert(covers(account, sum(owed, left)), 'more is given out than there is');
    assert.equal(this.writtenOffNano, 0n, 'a charge was not held');
    const quiet =
      this.messages.length === 0 &&
      this.inState('recorded').length === 0 &&
      !this.recordedAgain() &&
      this.nowMs >= this.keptBackUntilMs;
    if (quiet) assert.deepEqual(sum(left, owed), balancesOf(account), 'money is kept back for nothing');
  }

  /** Once everything has arrived, only live holds keep money back, and finally nothing does. */
  private async end(): Promise<void> {
    await this.post(this.log.length, 0);
    await this.deliverAll();
    for (const request of this.inState('recorded')) await this.settle(request);
    for (const accountId of ACCOUNTS) await this.check(accountId);
    this.nowMs += 2 * LEASE_MS;
    for (const accountId of ACCOUNTS)
      assert.deepEqual(await this.available(accountId), balancesOf(this.accountOf(accountId)));
    assert.equal(await this.subject.size(this.book), 0);
  }

  /** What is certainly held, and what is charged but not in the balance yet. */
  private owedBy(accountId: string): Balances {
    let usdNano = 0n;
    let diemNano = 0n;
    for (const request of this.requests.values()) {
      if (request.hold.accountId !== accountId || this.postedIds.has(request.hold.requestId)) continue;
      const recorded = request.state === 'recorded' || request.state === 'settled';
      if (!recorded && !(request.state === 'held' && this.isLive(request))) continue;
      const amount =
        request.state === 'settled' ? request.cost : recorded ? request.cost : request.hold.amount;
      usdNano += amount.usdNano;
      diemNano += amount.diemNano;
    }
    return { usdNano, diemNano };
  }

  private recordedAgain(): boolean {
    return new Set(this.log.map(({ requestId }) => requestId)).size < this.log.length;
  }

  private async available(accountId: string): Promise<Balances> {
    const probe = await this.book.hold({ requestId: 'probe', accountId, keyId: 'k', amountNano: 0n });
    await this.book.release(probe);
    return probe.before;
  }

  /** Reads the database; in a race everything happens between the read and its result. */
  private async load(accountId: string): Promise<AccountPosting> {
    const read = this.messageOf(accountId, []);
    await Promise.resolve();
    if (this.raceNext) {
      this.raceNext = false;
      await this.credit(accountId, { usd: 7, diem: 3 });
      await this.post(this.log.length, 0);
      await this.deliverAll();
    }
    return read;
  }

  private messageOf(accountId: string, requestIds: readonly string[]): AccountPosting {
    const { usdNano, diemNano, version } = this.accountOf(accountId);
    return { accountId, balances: { usdNano, diemNano }, version, requestIds, spends: [] };
  }

  private accountOf(accountId: string): DatabaseAccount {
    const account = this.database.get(accountId);
    if (!account) throw new Error(`no account ${accountId}`);
    return account;
  }

  private isLive(request: Request): boolean {
    return this.nowMs < request.liveUntilMs;
  }

  private inState(state: Request['state']): Request[] {
    return [...this.requests.values()].filter((request) => request.state === state);
  }

  private requestAt(at: number, state: Request['state']): Request | undefined {
    const requests = this.inState(state);
    return requests[at % Math.max(1, requests.length)];
  }
}

const accountAt = (at: number): string => ACCOUNTS[at % ACCOUNTS.length] ?? '';
const total = ({ usdNano, diemNano }: Balances): bigint => usdNano + diemNano;
const sum = (a: Balances, b: Balances): Balances => ({
  usdNano: a.usdNano + b.usdNano,
  diemNano: a.diemNano + b.diemNano,
});
const balancesOf = ({ usdNano, diemNano }: Balances): Balances => ({ usdNano, diemNano });
const covers = (a: Balances, b: Balances): boolean => a.usdNano >= b.usdNano && a.diemNano >= b.diemNano;
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

async function orRefused(hold: Hold | Promise<Hold>): Promise<Hold | undefined> {
  try {
    return await hold;
  } catch (error) {
    if (error instanceof Problem && error.code === 'INSUFFICIENT_BALANCE') return undefined;
    throw error;
  }
}

export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** Runs random histories against hold books. */
export async function holdHistories(numRuns: number, subject: HoldBookSubject): Promise<void> {
  const histories = fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), (steps) =>
    new HoldFixture(subject).run(steps),
  );
  await fc.assert(histories, { seed, numRuns });
}
