import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Books, SpendingLimit } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { RecordedCharge } from '@svc/contracts/messages';
import { totalNano } from '@svc/contracts/money';
import type { AccountPosting } from '@svc/hold-book';
import { BooksModel } from './history-books.js';
import { type HistoryTime, HoldsModel, LEASE_MS, dayOf } from './history-holds.js';
import { covers, same, sumOf } from './history-money.js';
import { HistoryLog, HistoryProcess, type ProcessParts } from './history-process.js';
import { HistoryRequests, type Scene, isRequestStep } from './history-requests.js';
import type { ChargeRow, UsageRow } from './history-rows.store.js';
import { type Midnight, StakesModel } from './history-stakes.js';
import { ACCOUNTS, KEYS, type Limit, type Plan, type Step } from './history-steps.js';

/** Batches of events posted in parallel in one round. */
interface Lanes {
  first: readonly RecordedCharge[];
  /** By another poster. */
  second: readonly RecordedCharge[];
  rolledBack: readonly RecordedCharge[];
}

export interface HistoryParts extends ProcessParts {
  readonly books: Pick<Books, 'credit' | 'refund'>;
  readonly happened: (what: string) => void;
  readonly setTokens: (accountId: string, tokensNano: bigint) => Promise<void>;
}

type StepOf<Name extends Step['do']> = Extract<Step, { do: Name }>;

const NO_LANES: Lanes = { first: [], second: [], rolledBack: [] };

/** Accounts, their requests and the processes that serve them. The first error is stored as its failure. */
export class History implements Scene {
  readonly accountIds = Array.from({ length: ACCOUNTS }, () => randomUUID());
  readonly books: BooksModel;
  readonly log = new HistoryLog();
  readonly time: HistoryTime;
  process: HistoryProcess;
  failure: unknown;
  lanes = NO_LANES;
  midnight: Midnight | undefined;
  /** Whether this round wrote to the books. */
  isTouched = false;
  private readonly run = randomUUID().slice(0, 13);
  private readonly requests = new HistoryRequests(this, this.run);
  private readonly stakes: StakesModel;
  private readonly limits: (Limit | null)[];
  private readonly changedLimits = new Set<number>();
  private inbox: AccountPosting[] = [];
  private isOpen = true;
  /** Requests that arrive while a process opens or DIEM is reset. */
  private asks = 0;
  /** The number of events known to be posted. */
  private posted = 0;
  private postedNext = 0;

  constructor(
    private readonly parts: HistoryParts,
    readonly plan: Plan,
  ) {
    this.books = new BooksModel(parts.happened);
    this.stakes = new StakesModel(this.books);
    this.time = { nowMs: Date.parse(plan.start) };
    this.limits = [...plan.limits];
    for (const [index, accountId] of this.accountIds.entries())
      this.books.open(accountId, this.nano(plan.usd[index] ?? 0), this.nano(plan.tokens[index] ?? 0));
    this.stakes.begin(this.accountIds, dayOf(this.time));
    this.process = this.newProcess();
    this.process.open();
  }

  nano(units: number): bigint {
    return BigInt(units) * BigInt(this.plan.unit);
  }

  write(work: Promise<unknown>): void {
    this.isTouched = true;
    this.watch(this.parts.track(work));
  }

  watch(work: Promise<unknown> | undefined): void {
    const { process } = this;
    work?.catch((error: unknown) => {
      if (process === this.process) this.failure ??= error;
    });
  }

  /** Starts a step. Its database work continues. */
  start(step: Step): void {
    this.guard(() => {
      this.lanes = NO_LANES;
      this.midnight = undefined;
      this.isTouched = false;
      if (this.isOpen) {
        if (step.slow) this.process.readsSlowly();
        this.act(step);
      } else {
        this.post({ events: this.log.events.length, again: 2 });
        this.askMany();
      }
      if (this.midnight) this.stakes.start(this.midnight);
      this.isTouched ||= this.lanes !== NO_LANES || this.midnight !== undefined;
    });
  }

  /** The batches of this round are in the books, except the one that was rolled back. */
  lanesPosted(): void {
    for (const { requestId } of [...this.lanes.first, ...this.lanes.second]) this.books.markPosted(requestId);
    this.posted = this.postedNext;
  }

  /** Delivers messages, advances the clock, and ends and opens processes. */
  finish(step: Step): void {
    this.guard(() => {
      if (this.midnight) this.stakes.check(this.midnight);
      if (!this.isOpen) {
        this.deliver('all');
        this.isOpen = true;
        this.process.open();
        return;
      }
      if (step.do === 'crash' || (step.do === 'midnight' && step.how === 'dies')) {
        this.crash(step.asks);
        return;
      }
      this.deliver(step.deliver);
      this.time.nowMs += this.waitMs(step);
      this.look(step);
    });
  }

  /** Checks after the step and everything it caused. */
  check(step: Step): void {
    this.guard(() => {
      for (const accountId of this.accountIds) {
        const { balances, isLate } = this.books.account(accountId);
        const owed = this.process.model.owed(accountId);
        assert(isLate || covers(balances, owed), `account ${accountId} has less than its requests hold`);
      }
      if (step.do === 'closed') this.process.assertEmpty();
    });
  }

  /** Compares the final state of the books. */
  checkEnd(charges: readonly ChargeRow[], usage: readonly UsageRow[]): void {
    this.guard(() => {
      this.books.checkCharges(charges, usage);
      for (const [key, limit] of this.plan.limits.entries())
        if (limit && !this.changedLimits.has(key)) this.checkLimit(key, limit);
    });
  }

  /** Queues a posting for the hold book until a step delivers it. */
  tell(posting: AccountPosting): void {
    this.guard(() => assert(posting.version >= 0n, 'no charge is given up'));
    this.inbox.push(posting);
  }

  async holdRest(accountId: string, requestId: string): Promise<bigint> {
    const diemNano = await this.stakes.rest(accountId, this.process.book.holdRest(accountId, requestId));
    this.askMany();
    return diemNano;
  }

  /** Records the first error as the failure of this history. */
  guard(work: () => void): void {
    try {
      if (this.failure === undefined) work();
    } catch (error) {
      this.failure ??= error;
    }
  }

  private act(step: Step): void {
    if (isRequestStep(step)) {
      this.requests.act(step);
      return;
    }
    switch (step.do) {
      case 'hold':
        for (const key of step.keys) this.ask(key, step);
        return;
      case 'renew':
        this.watch(this.process.ledger.renewAll());
        return;
      case 'databaseResponds':
        this.process.databaseResponds();
        return;
      case 'wait':
      case 'skip':
        this.requests.logAnswersBefore(this.time.nowMs + waitMsOf(step) - LEASE_MS);
        return;
      case 'post':
        this.post(step);
        return;
      case 'credit':
        this.credit(step.account, step.amount, step.reference);
        return;
      case 'refund':
        this.refund(step);
        return;
      case 'limit':
        this.limits[step.key] = step.limit;
        this.changedLimits.add(step.key);
        return;
      case 'stake':
        this.stake(step);
        return;
      case 'midnight':
        this.process.databaseResponds();
        this.asks = step.asks;
        this.midnight = { day: dayOf(this.time), accountIds: this.accountIds, how: step.how };
        return;
      case 'close':
        this.requests.logAnswersBefore(Infinity);
        this.requests.releaseAll();
        this.post({ events: this.log.events.length, again: 0 });
        return;
      case 'crash':
      case 'closed':
        return;
    }
  }

  private ask(key: number, amounts: { amount: number; atLeast?: number; preferred?: number }): void {
    const accountId = this.accountIds[Math.floor(key / KEYS)] ?? '';
    const limit = this.limits[key];
    this.requests.ask(
      { accountId, keyId: this.keyOf(key), keyLimit: limit ? this.limitOf(limit) : undefined },
      amounts,
    );
  }

  private askMany(): void {
    const { asks } = this;
    this.asks = 0;
    for (let ask = 0; ask < asks; ask += 1) this.ask(ask % (ACCOUNTS * KEYS), { amount: 10 + ask });
  }

  private keyOf(key: number): string {
    return `${this.run}-key-${key}`;
  }

  private limitOf({ period, usd, diem }: Limit): SpendingLimit {
    return {
      period,
      ...(usd !== undefined && { usdNano: this.nano(usd) }),
      ...(diem !== undefined && { diemNano: this.nano(diem) }),
    };
  }

  /** Posts the next events of the log, with some earlier ones. */
  private post({ events, again, how = 'once', credit }: Posts): void {
    const until = Math.min(this.log.events.length, this.posted + events);
    const batch = this.log.events.slice(Math.max(0, this.posted - again), until);
    if (credit) this.credit(0, 17, 2);
    if (batch.length === 0) return;
    const reversed = batch.toReversed();
    if (how === 'rolledBack') {
      this.lanes = { ...NO_LANES, rolledBack: batch };
      return;
    }
    this.lanes = {
      ...NO_LANES,
      first: how === 'reversed' ? reversed : batch,
      second: how === 'twice' ? reversed : [],
    };
    this.postedNext = until;
  }

  private credit(account: number, amount: number, name: number): void {
    const accountId = this.accountIds[account] ?? '';
    const reference = `credit ${name}`;
    // A reference usually has the same amount.
    const usdNano = this.nano(amount % 4 === 0 ? amount + 1 : 20 + name);
    const expected = this.books.credit(accountId, reference, usdNano);
    const credited = this.parts.books.credit({ accountId, usdNano, reference }).then(
      (transfer) => assert.deepEqual([expected, transfer.amountNano], [undefined, usdNano]),
      (error: unknown) => this.refused('credit', error, expected),
    );
    this.write(credited);
  }

  private refund({ request, usd, diem, whole, reference: name }: StepOf<'refund'>): void {
    const charge = this.requests.charge(request);
    if (!charge) return;
    const { accountId, requestId, cost } = charge;
    const part = {
      usdNano: (cost.usdNano * BigInt(usd)) / 100n,
      diemNano: (cost.diemNano * BigInt(diem)) / 100n,
    };
    const isWhole = whole || totalNano(part) === 0n;
    const refund = { accountId, requestId, reference: `refund ${name}`, ...(!isWhole && { amount: part }) };
    const expected = this.books.refund(refund);
    const refunded = this.parts.books.refund(refund).then(
      (transfers) => {
        const amount = sumOf(transfers.map(balancesOf));
        assert(typeof expected !== 'string' && same(amount, expected), 'a refund gives back what it may');
        this.parts.happened('refund');
      },
      (error: unknown) => this.refused('refund', error, expected),
    );
    this.write(refunded);
  }

  private refused(what: string, error: unknown, expected: unknown): void {
    if (!(error instanceof Problem)) throw error;
    assert.equal(error.code, expected);
    this.parts.happened(`${what}: ${error.code}`);
  }

  private stake({ account, tokens }: StepOf<'stake'>): void {
    const accountId = this.accountIds[account] ?? '';
    this.books.account(accountId).tokensNano = this.nano(tokens);
    this.write(this.parts.setTokens(accountId, this.nano(tokens)));
  }

  private deliver(how: Step['deliver']): void {
    const messages = this.inbox;
    if (how === 'none' || messages.length === 0) return;
    this.inbox = how === 'twice' ? messages.slice(-4) : how === 'last' ? messages.slice(0, -1) : [];
    const arriving =
      how === 'reversed' ? messages.toReversed() : how === 'last' ? messages.slice(-1) : messages;
    this.watch(this.process.book.post(arriving));
  }

  private waitMs(step: Step): number {
    return this.requests.isSettling ? 0 : waitMsOf(step);
  }

  private look(step: Step): void {
    if (this.process.isSlow) return;
    for (const [index, accountId] of this.accountIds.entries()) {
      if (step.look !== index && step.do !== 'closed') continue;
      const looked = this.process.ledger.available(accountId).catch((error: unknown) => {
        if (!(error instanceof Problem && this.process.model.mayLackRoom)) throw error;
      });
      this.watch(looked);
    }
  }

  private crash(asks: number): void {
    this.parts.happened(this.inbox.length > 0 ? 'a crash before the book was updated' : 'a crash');
    this.asks = asks;
    this.inbox = [];
    this.requests.processDied();
    this.process = this.newProcess();
    this.isOpen = false;
  }

  private newProcess(): HistoryProcess {
    const { time, log, plan } = this;
    const model = new HoldsModel(this.books, time);
    model.mayLackRoom = plan.maxAccounts < ACCOUNTS;
    const fail = (error: unknown): void => {
      if (this.process === process) this.failure ??= error;
    };
    const process = new HistoryProcess(this.parts, { time, log, model, fail, maxAccounts: plan.maxAccounts });
    return process;
  }

  /** No key has ever spent more in a period than its limit, unless a hold had lapsed. */
  private checkLimit(key: number, limit: Limit): void {
    const accountId = this.accountIds[Math.floor(key / KEYS)] ?? '';
    if (this.books.account(accountId).isLate) return;
    const { period, usdNano, diemNano } = this.limitOf(limit);
    const hours = new Set([...this.books.recorded.values()].map(({ charge }) => charge.at.slice(0, 13)));
    for (const hour of hours) {
      const spent = this.books.spent(this.keyOf(key), hour, { period, counts: () => true });
      const isWithin =
        spent.usdNano <= (usdNano ?? spent.usdNano) && spent.diemNano <= (diemNano ?? spent.diemNano);
      assert(isWithin, `key ${key} spent more than its limit in the period of ${hour}`);
    }
  }
}

interface Posts {
  readonly events: number;
  readonly again: number;
  readonly how?: StepOf<'post'>['how'];
  readonly credit?: boolean;
}

function waitMsOf(step: Step): number {
  if (step.do === 'wait') return step.minutes * 60_000;
  if (step.do === 'skip') return step.days * 86_400_000;
  return step.do === 'closed' ? 3 * LEASE_MS : 0;
}

const balancesOf = ({ currency, amountNano }: { currency: string; amountNano: bigint }) => ({
  usdNano: currency === 'USD' ? amountNano : 0n,
  diemNano: currency === 'DIEM' ? amountNano : 0n,
});
