import assert from 'node:assert/strict';
import { type Balances, totalNano } from '@svc/contracts/money';
import type { Extension, Hold, HoldRequest } from '@svc/contracts/ports';
import type { ProblemCode } from '@svc/contracts/problems';
import type { AccountPosting, PostedBalances } from '@svc/hold-book';
import type { BooksModel } from './history-books.js';
import { NONE, covers, minus, notBelowZero, plus, same, smaller, sumOf } from './history-money.js';

export interface HistoryTime {
  nowMs: number;
}

export const LEASE_MS = 8 * 3_600_000;

export const timeOf = ({ nowMs }: HistoryTime): string => new Date(nowMs).toISOString();
export const hourOf = (time: HistoryTime): string => timeOf(time).slice(0, 13);
export const dayOf = (time: HistoryTime): string => timeOf(time).slice(0, 10);

/** The outcome of a hold book operation. */
export type Outcome = { readonly hold: Hold } | { readonly refused: ProblemCode };

interface HeldRequest {
  hold: Hold;
  /** The amount set aside now. */
  aside: Balances | undefined;
  /** Undefined for a hold without a lease, which only its posting ends. */
  lapsesAtMs: number | undefined;
  isSettled: boolean;
  /** Whether it counts against its key's limit; unknown if the book may have forgotten the key. */
  counts: 'yes' | 'no' | 'perhaps';
}

interface Wanted {
  readonly amountNano: bigint;
  readonly atLeastNano?: bigint | undefined;
  readonly preferredNano?: bigint | undefined;
}

type Asker = Pick<HoldRequest, 'accountId' | 'keyId' | 'keyLimit'>;

const NO_LIMIT = 10n ** 30n;

/** Model of the hold book: the expected or allowed results, from the balances it knows less the holds. */
export class HoldsModel {
  private readonly requests = new Map<string, HeldRequest>();
  private readonly known = new Map<string, PostedBalances>();
  /** Requests whose posting this book received, or that were posted before it began. */
  private readonly heard: Set<string>;
  /** When a posting arrived before its settle. The book remembers that for at least a lease. */
  private readonly remembered = new Map<string, number>();
  /** The database is slow, so accounts may be evicted meanwhile. */
  mayLackRoom = false;

  constructor(
    private readonly books: BooksModel,
    private readonly time: HistoryTime,
  ) {
    this.heard = new Set([...books.recorded.keys()].filter((requestId) => books.isPosted(requestId)));
  }

  get size(): number {
    return [...this.requests.values()].filter(({ aside }) => aside).length;
  }

  holds(requestId: string): boolean {
    return this.requests.get(requestId)?.aside !== undefined;
  }

  available(accountId: string): Balances {
    const known = this.known.get(accountId)?.balances ?? NONE;
    return notBelowZero(
      minus(
        known,
        this.aside(({ hold }) => hold.accountId === accountId),
      ),
    );
  }

  /** What requests hold that are not charged yet. */
  owed(accountId: string): Balances {
    return this.aside(({ hold }) => hold.accountId === accountId && !this.books.isPosted(hold.requestId));
  }

  /** The book received an account's balance, in a message or from the database. */
  tell(posted: PostedBalances): void {
    const known = this.known.get(posted.accountId);
    if (!known || posted.version > known.version) this.known.set(posted.accountId, posted);
  }

  hold(request: HoldRequest, outcome: Outcome): void {
    this.sweep();
    const earlier = this.requests.get(request.requestId);
    if (earlier?.aside) {
      assert.deepEqual(outcome, { hold: earlier.hold }, 'a request that holds keeps its hold');
      return;
    }
    const before = this.available(request.accountId);
    this.books.happened('hold' in outcome ? 'hold' : `hold: ${outcome.refused}`);
    const amount = 'hold' in outcome ? outcome.hold.amount : undefined;
    this.expectTaken(request, request, amount ?? outcome);
    if (!amount) return;
    const { requestId, accountId, keyId, keyLimit, userLimit } = request;
    const hold: Hold = { requestId, accountId, keyId, amount, before, keyLimit, userLimit };
    assert.deepEqual(outcome, { hold }, 'a hold says what it is');
    this.place(hold, amount);
  }

  extend(hold: Hold, { moreNano, atLeastNano = moreNano }: Extension, outcome: Outcome): void {
    this.sweep();
    const request = this.requests.get(hold.requestId);
    assert(request, 'what is extended was held');
    const grown = 'hold' in outcome ? outcome.hold.amount : undefined;
    const name = request.aside ? 'extend' : 'extend a lapsed hold';
    this.books.happened('hold' in outcome ? name : `${name}: ${outcome.refused}`);
    if (!request.aside) {
      if (!covers(this.left(hold, 'most'), hold.amount)) {
        assert(!grown, 'a lapsed hold is not taken again where the money is gone');
        return;
      }
      this.expectAgain(hold, { amountNano: moreNano, atLeastNano }, grown ?? outcome);
      if (grown) this.place({ ...hold, amount: grown }, grown);
      return;
    }
    const missing = totalNano(hold.amount) + moreNano - totalNano(request.hold.amount);
    if (missing > 0n) {
      const wanted = { amountNano: missing, atLeastNano: missing - (moreNano - atLeastNano) };
      this.expectTaken(hold, wanted, grown ? minus(grown, request.hold.amount) : outcome);
      if (!grown) return;
      request.hold = { ...request.hold, amount: grown };
      request.aside = grown;
    }
    assert.deepEqual(outcome, { hold: request.hold }, 'a hold grows by what was asked');
    request.lapsesAtMs = this.time.nowMs + LEASE_MS;
  }

  /** `isHeld` is whether the book sets anything aside for it now. */
  settle(hold: Hold, cost: Balances, isHeld: boolean): void {
    const request = this.requests.get(hold.requestId);
    if (request?.aside) {
      if (request.isSettled) return;
      request.aside = cost;
      request.isSettled = true;
      request.lapsesAtMs = undefined;
      return;
    }
    assert(isHeld || this.remembered.has(hold.requestId), 'a charge that is not posted is held');
    assert(!isHeld || !this.isFresh(hold), 'what is posted is not held again');
    this.books.happened(isHeld ? 'settle a lapsed hold' : 'settle what is posted');
    if (!isHeld) return;
    if (!this.heard.has(hold.requestId)) this.books.account(hold.accountId).isLate = true;
    this.place(hold, cost, 'perhaps');
    this.request(hold.requestId).isSettled = true;
  }

  release(hold: Hold): void {
    const request = this.requests.get(hold.requestId);
    if (request && !request.isSettled) request.aside = undefined;
  }

  /** `isTaken` returns whether a lapsed hold is held again; undefined if unknown. */
  renew(holds: readonly Hold[], isTaken: (hold: Hold) => boolean | undefined): void {
    for (const hold of holds) {
      const request = this.requests.get(hold.requestId);
      if (request?.aside) {
        if (!request.isSettled) request.lapsesAtMs = this.time.nowMs + LEASE_MS;
        continue;
      }
      const taken = isTaken(hold);
      if (taken === undefined) continue;
      this.books.happened(taken ? 'renew a lapsed hold' : 'renew in vain');
      const [least, most] = [this.left(hold, 'least'), this.left(hold, 'most')];
      if (this.remembered.has(hold.requestId))
        assert(!taken || !this.isFresh(hold), 'what is posted is not held again');
      else if (taken)
        assert(covers(most, hold.amount), 'a lapsed hold is taken again only where the money is there');
      else assert(!covers(least, hold.amount), 'a lapsed hold is taken again where the money is there');
      if (taken) this.place(hold, hold.amount);
    }
    this.sweep();
  }

  post(postings: readonly AccountPosting[]): void {
    for (const posting of postings) {
      this.tell(posting);
      for (const requestId of posting.requestIds) {
        this.heard.add(requestId);
        const request = this.requests.get(requestId);
        if (request?.aside && !request.isSettled) this.books.happened('a posting before its settle');
        if (!request?.aside || !request.isSettled) this.remembered.set(requestId, this.time.nowMs);
        if (request) request.aside = undefined;
      }
    }
  }

  holdRest(accountId: string, requestId: string, diemNano: bigint): void {
    this.sweep();
    const earlier = this.requests.get(requestId)?.aside;
    assert.equal(diemNano, earlier?.diemNano ?? this.available(accountId).diemNano, 'all DIEM is set aside');
    const amount = { usdNano: 0n, diemNano };
    if (!earlier) this.place({ requestId, accountId, keyId: '', amount, before: NONE }, amount);
  }

  look(accountId: string, available: Balances): void {
    this.sweep();
    assert.deepEqual(available, this.available(accountId), `account ${accountId} can spend what it has`);
  }

  /** Ends the holds whose lease is over. */
  private sweep(): void {
    for (const request of this.requests.values()) {
      if (!request.aside || request.lapsesAtMs === undefined || request.lapsesAtMs > this.time.nowMs)
        continue;
      request.aside = undefined;
      const { requestId, accountId } = request.hold;
      if (this.books.recorded.has(requestId) && !this.heard.has(requestId))
        this.books.account(accountId).isLate = true;
    }
  }

  private place(hold: Hold, aside: Balances, limited: HeldRequest['counts'] = 'yes'): void {
    const lapsesAtMs = this.time.nowMs + LEASE_MS;
    const counts = hold.keyLimit ? limited : 'no';
    this.requests.set(hold.requestId, { hold, aside, lapsesAtMs, isSettled: false, counts });
  }

  private request(requestId: string): HeldRequest {
    const request = this.requests.get(requestId);
    assert(request);
    return request;
  }

  /** Whether the book must still remember a posting. */
  private isFresh({ requestId }: Hold): boolean {
    return this.time.nowMs < (this.remembered.get(requestId) ?? -Infinity) + LEASE_MS;
  }

  private aside(which: (request: HeldRequest) => boolean): Balances {
    return sumOf([...this.requests.values()].filter(which).map(({ aside }) => aside ?? NONE));
  }

  /**
   * What a request may take: the account's balance within the key's limit. If the book has not received all
   * postings, it may count spending once, twice or, while it is held, not at all.
   */
  private left({ accountId, keyId, keyLimit }: Asker, view: 'least' | 'most'): Balances {
    const account = this.available(accountId);
    if (!keyLimit) return account;
    const { period } = keyLimit;
    const counts = (requestId: string): boolean => view === 'least' || this.heard.has(requestId);
    const spent = this.books.spent(keyId, hourOf(this.time), { period, counts });
    const held = this.aside(
      (request) =>
        request.hold.keyId === keyId &&
        (request.counts === 'yes' || (request.counts === 'perhaps' && view === 'least')),
    );
    const limit = { usdNano: keyLimit.usdNano ?? NO_LIMIT, diemNano: keyLimit.diemNano ?? NO_LIMIT };
    const key = notBelowZero(minus(limit, plus(spent, held)));
    return {
      usdNano: smaller(account.usdNano, key.usdNano),
      diemNano: smaller(account.diemNano, key.diemNano),
    };
  }

  private expectTaken(asker: Asker, wanted: Wanted, actual: Balances | Outcome): void {
    const account = this.available(asker.accountId);
    const [least, most] = [this.left(asker, 'least'), this.left(asker, 'most')];
    this.expectOneOf(
      { least: decide(account, least, wanted), most: decide(account, most, wanted), left: most },
      actual,
    );
  }

  private expectAgain(hold: Hold, wanted: Wanted, actual: Balances | Outcome): void {
    const rest = (view: 'least' | 'most'): Balances | ProblemCode => {
      const left = this.left(hold, view);
      if (!covers(left, hold.amount)) return 'INSUFFICIENT_BALANCE';
      const more = taken(minus(left, hold.amount), wanted);
      return more ? plus(hold.amount, more) : 'INSUFFICIENT_BALANCE';
    };
    this.expectOneOf(
      { least: rest('least'), most: rest('most'), left: this.left(hold, 'most'), isAgain: true },
      actual,
    );
  }

  /** If it is certain what the book knows, both bounds are equal, and so is the result. */
  private expectOneOf({ least, most, left, isAgain }: Expected, actual: Balances | Outcome): void {
    const did = 'refused' in actual ? actual.refused : 'hold' in actual ? actual.hold.amount : actual;
    if (did === 'UNAVAILABLE') {
      assert(this.mayLackRoom, 'there is room, and the database answers');
      return;
    }
    if (typeof did === 'string') {
      if (isAgain) assert(typeof least === 'string', `refused with ${did}, expected ${show(least)}`);
      else
        assert(
          did === least || did === most,
          `refused with ${did}, expected ${show(least)} or ${show(most)}`,
        );
      return;
    }
    assert(typeof most !== 'string', `took ${show(did)}, expected ${show(most)}`);
    const exact = typeof least !== 'string' && same(least, most);
    if (!exact) this.books.happened('taken before a posting has arrived');
    if (exact) assert(same(did, most), `took ${show(did)}, expected ${show(most)}`);
    else assert(covers(left, did), `took ${show(did)} of ${show(left)}`);
  }
}

interface Expected {
  readonly least: Balances | ProblemCode;
  readonly most: Balances | ProblemCode;
  readonly left: Balances;
  /** The hold is being taken again after a lapse; either refusal code is accepted. */
  readonly isAgain?: boolean;
}

/** What is taken of what is left: DIEM first, then USD. */
function taken(left: Balances, { amountNano, atLeastNano, preferredNano }: Wanted): Balances | undefined {
  const total = totalNano(left);
  const isPreferred = preferredNano !== undefined && 10n * preferredNano <= total;
  const wanted = isPreferred ? preferredNano : amountNano;
  if (total < (isPreferred ? preferredNano : (atLeastNano ?? amountNano))) return undefined;
  const diemNano = smaller(left.diemNano, smaller(wanted, total));
  return { diemNano, usdNano: smaller(wanted, total) - diemNano };
}

function decide(account: Balances, left: Balances, wanted: Wanted): Balances | ProblemCode {
  const took = taken(left, wanted);
  if (took) return took;
  if (!taken(account, wanted)) return 'INSUFFICIENT_BALANCE';
  return left.usdNano < account.usdNano
    ? 'API_KEY_USD_SPEND_LIMIT_EXCEEDED'
    : 'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED';
}

const show = (what: Balances | ProblemCode): string =>
  typeof what === 'string' ? what : `${what.usdNano} USD and ${what.diemNano} DIEM`;
