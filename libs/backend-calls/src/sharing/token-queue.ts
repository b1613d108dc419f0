import { BANDS, type Band } from '@svc/contracts/catalog';
import { PassingMap } from '@svc/runtime';

/** Whose call it is, and what it takes of its account's share. */
export interface Sharer {
  readonly accountId: string;
  readonly band: Band;
  /** A call of twice the weight counts half as much. */
  readonly weight: number;
  /** Tokens of its prompt, estimated. */
  readonly promptTokens: number;
}

/** The tokens of a call that has ended. */
export interface UsedTokens {
  /** Undefined if the backend has not reported them; the output is then estimated, too. */
  readonly promptTokens: number | undefined;
  readonly outputTokens: number;
}

/** While calls of both bands wait, the first gets this many tokens for one of the second. */
const BAND_SHARES: Readonly<Record<Band, number>> = { interactive: 15, background: 1 };

/** Accounts without a call that are remembered, because they have had more than their share. */
const MOST_REMEMBERED = 1_024;

/** The output of a call before any is known, and how much each further one changes what is expected. */
const FIRST_OUTPUT_TOKENS = 256;
const NEW_SHARE = 1 / 16;

/** Which calls can have a slot, and how many of an account's run. */
interface SlotRules<Waiter> {
  readonly canRun: (waiter: Waiter) => boolean;
  readonly runningOf: (accountId: string) => number;
}

/** The calls of an account in a band. */
interface Flow<Waiter> {
  readonly waiting: Set<Waiter>;
  /** Its calls that run and are charged. */
  running: number;
  /** The virtual time at which what it was given ends. */
  endsAt: number;
}

/** A band, with a virtual time of its own: the tokens that an account with weight 1 has been given. */
class BandQueue<Waiter extends Sharer> {
  /** By account, the least recently served first. */
  readonly flows = new PassingMap<string, Flow<Waiter>>();
  time = 0;
  endsAt = 0;
  count = 0;

  constructor(readonly share: number) {}

  flowOf(accountId: string): Flow<Waiter> {
    const flow = this.flows.get(accountId) ?? { waiting: new Set(), running: 0, endsAt: this.time };
    this.flows.set(accountId, flow);
    return flow;
  }

  /**
   * The next call that can run: of the account that has been given the least, or among equals of the one with
   * the fewest running calls.
   */
  next({ canRun, runningOf }: SlotRules<Waiter>): Waiter | undefined {
    let best: Waiter | undefined;
    let least = Number.POSITIVE_INFINITY;
    let fewest = 0;
    for (const [accountId, { waiting, endsAt }] of this.flows) {
      const startsAt = Math.max(this.time, endsAt);
      if (waiting.size === 0 || startsAt > least) continue;
      const running = runningOf(accountId);
      if (startsAt === least && running >= fewest) continue;
      for (const waiter of waiting) {
        if (!canRun(waiter)) continue;
        best = waiter;
        least = startsAt;
        fewest = running;
        break;
      }
    }
    return best;
  }

  /** Forgets an account that has no call, and no more than its share. */
  drop(accountId: string, flow: Flow<Waiter>): void {
    const isOver = flow.waiting.size === 0 && flow.running === 0;
    if (isOver && (flow.endsAt <= this.time || this.flows.size > MOST_REMEMBERED))
      this.flows.delete(accountId);
  }
}

/**
 * The calls that wait for a slot of a backend, in the order in which they get one: each account gets the same
 * number of tokens while it has calls that wait, whatever the size and number of its calls (start-time fair
 * queueing). The tokens of a call are estimated when it begins and corrected when it has ended. An account
 * that has had nothing lately is next; one that has had more than its share waits until others have had as
 * much, so for as long as its own latest calls.
 */
export class TokenQueue<Waiter extends Sharer> {
  private readonly bands: Readonly<Record<Band, BandQueue<Waiter>>> = {
    interactive: new BandQueue(BAND_SHARES.interactive),
    background: new BandQueue(BAND_SHARES.background),
  };
  private time = 0;
  private outputTokens = FIRST_OUTPUT_TOKENS;

  /** The calls that wait. */
  get size(): number {
    return this.bands.interactive.count + this.bands.background.count;
  }

  join(waiter: Waiter): void {
    const band = this.bands[waiter.band];
    band.flowOf(waiter.accountId).waiting.add(waiter);
    band.count += 1;
  }

  /** Returns whether the call was waiting. */
  leave(waiter: Waiter): boolean {
    const band = this.bands[waiter.band];
    const flow = band.flows.get(waiter.accountId);
    if (!flow?.waiting.delete(waiter)) return false;
    band.count -= 1;
    band.drop(waiter.accountId, flow);
    return true;
  }

  /** The call that gets the next slot, of those that can have it. */
  next(rules: SlotRules<Waiter>): Waiter | undefined {
    const [first, second] = BANDS;
    const isSecondDue = this.startOf(second) < this.startOf(first);
    const [now, later] = isSecondDue ? [second, first] : [first, second];
    return this.nextIn(now, rules) ?? this.nextIn(later, rules);
  }

  /**
   * Charges a call that begins to its account. The returned function corrects that, with the tokens that it
   * has used, if they are known. Call it once, when the call has ended.
   */
  charge({ accountId, band: name, weight, promptTokens }: Sharer): (used?: UsedTokens) => void {
    const band = this.bands[name];
    const flow = band.flowOf(accountId);
    const tokens = promptTokens + this.outputTokens;
    band.time = Math.max(band.time, flow.endsAt);
    flow.endsAt = band.time + tokens / weight;
    this.time = Math.max(this.time, band.endsAt);
    band.endsAt = this.time + tokens / band.share;
    flow.running += 1;
    // To the end, behind accounts that have been given as much.
    band.flows.delete(accountId);
    band.flows.set(accountId, flow);
    return (used) => {
      flow.running -= 1;
      if (used) {
        const more = (used.promptTokens ?? promptTokens) + used.outputTokens - tokens;
        flow.endsAt += more / weight;
        band.endsAt += more / band.share;
        if (used.promptTokens !== undefined)
          this.outputTokens += (used.outputTokens - this.outputTokens) * NEW_SHARE;
      }
      if (band.flows.get(accountId) === flow) band.drop(accountId, flow);
    };
  }

  /** The latest call of the account with the most calls, running and waiting. */
  latestOfLargest({ runningOf }: SlotRules<Waiter>): Waiter | undefined {
    let most = 0;
    let largest: ReadonlySet<Waiter> = new Set();
    for (const name of BANDS)
      for (const [accountId, { waiting }] of this.bands[name].flows) {
        const count = runningOf(accountId) + waiting.size;
        // Among equals the later account: the one that came first keeps its turn.
        if (waiting.size === 0 || count < most) continue;
        most = count;
        largest = waiting;
      }
    return [...largest].at(-1);
  }

  private startOf(name: Band): number {
    return Math.max(this.time, this.bands[name].endsAt);
  }

  private nextIn(name: Band, rules: SlotRules<Waiter>): Waiter | undefined {
    return this.bands[name].count > 0 ? this.bands[name].next(rules) : undefined;
  }
}
