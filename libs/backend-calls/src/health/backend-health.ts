import { PassingSet } from '@svc/runtime';
import { RecentCalls } from './recent-calls.js';

/**
 * Whose requests call a backend last after its failure. A failure that the request may have caused, such as
 * an error 500, concerns its account alone: servers such as llama-cpp-python send one for a request that they
 * can't parse.
 */
export type CooldownScope = 'nobody' | 'account' | 'everyone';

/** The longest pause, in pauses of the first length. */
const MOST_PAUSES = 12;

/** How long a backend must work before one of its earlier pauses no longer counts. */
const FORGIVEN_MS = 30_000;

/** How long it counts that a backend has reported to be full. */
const FULLNESS_MS = 3_000;

const CHECKS_TO_FALL = 3;
const CHECKS_TO_RETURN = 2;

/** A call that waits for its first byte. */
export interface WaitingCall {
  readonly startMs: number;
  /** Ends it, so that another backend is called. */
  giveUp(error: Error): void;
}

/** A backend that answers neither calls nor checks. Its calls have certainly not begun to respond. */
export class BackendSilent extends Error {
  override readonly name = 'BackendSilent';

  constructor() {
    super('the backend answers neither calls nor checks');
  }
}

interface Failure {
  readonly scope: CooldownScope;
  /** In words for the operator. */
  readonly reason: string;
}

/**
 * The health of one URL and model, as this process knows it. After a failure the backend pauses: it is called
 * last. Each pause in a row is longer than the one before. After it, one real call at a time tries whether it
 * works again. A backend that is down, by its checks, stays paused until they succeed.
 */
export class BackendHealth {
  readonly recent = new RecentCalls();
  /** The oldest first. */
  readonly waiting = new PassingSet<WaitingCall>();
  /** When it last showed that it lives, and when it was last called. */
  lifeMs = -Infinity;
  calledMs = -Infinity;
  /** It has let calls wait, and is being checked. */
  isDoubtful = false;
  /** Calls under way that came here after a failure elsewhere. */
  retrying = 0;
  private untilMs = 0;
  private restUntilMs = 0;
  private latestReason = '';
  private pauses = 0;
  private forgivenMs = 0;
  private isPausing = false;
  private trial: WaitingCall | undefined;
  private slowMs = Infinity;
  private slowPauseMs = 0;
  private fullUntilMs = -Infinity;
  private silence = 0;
  private signs = 0;
  private down = false;
  /** The latest account whose request failed since the backend last succeeded. */
  private failedOnce: { readonly accountId: string; readonly untilMs: number } | undefined;

  /** Why everyone calls it last, and for how long; `undefined` if that is not so. */
  get current(): { readonly restMs: number; readonly reason: string } | undefined {
    if (!this.isPaused) return undefined;
    const restMs = Math.max(this.untilMs, this.restUntilMs) - performance.now();
    return { restMs: Math.max(0, restMs), reason: this.latestReason };
  }

  /** Whether it answers neither calls nor checks. */
  get isDown(): boolean {
    return this.down;
  }

  /** Whether everyone calls it last: it is down, pauses, or is tried by another call. */
  get isPaused(): boolean {
    if (this.down) return true;
    const nowMs = performance.now();
    return nowMs < this.untilMs || nowMs < this.restUntilMs || (this.isPausing && this.trial !== undefined);
  }

  /** Whether this account's failure alone makes it the last one for the account. */
  isPausedFor(accountId: string | undefined): boolean {
    const { failedOnce } = this;
    return (
      failedOnce !== undefined && failedOnce.accountId === accountId && performance.now() < failedOnce.untilMs
    );
  }

  /** Whether it is called last by an account or, without one, by everyone. */
  isOn(accountId?: string): boolean {
    return this.isPaused || this.isPausedFor(accountId);
  }

  /** A call begins here. */
  began(call: WaitingCall): void {
    this.calledMs = call.startMs;
    if (this.isPausing && !this.isPaused) this.trial = call;
  }

  /** A call has ended, or has begun to respond. */
  left(call: WaitingCall): void {
    this.waiting.delete(call);
    if (this.trial === call) this.trial = undefined;
  }

  /** A call succeeded; `firstByteMs` is the time to the first byte of a stream. */
  succeeded(call: WaitingCall, firstByteMs: number | undefined): void {
    const nowMs = performance.now();
    const wasTrial = this.trial === call;
    this.left(call);
    this.lives(nowMs);
    this.down = false;
    this.failedOnce = undefined;
    this.recent.succeeded(nowMs);
    if (firstByteMs !== undefined) this.recent.firstByteAfter(firstByteMs, nowMs);
    if (wasTrial && (firstByteMs ?? 0) > this.slowMs) {
      this.pause('It still begins its responses much later than the others', this.slowPauseMs);
      return;
    }
    if (nowMs >= this.untilMs) {
      this.isPausing = false;
      this.slowMs = Infinity;
    }
    if (this.pauses > 0 && nowMs - this.forgivenMs > FORGIVEN_MS) {
      this.pauses -= 1;
      this.forgivenMs = nowMs;
    }
  }

  /**
   * A call failed. Returns whether everyone calls the backend last now, as they do after failures of two
   * accounts in a row.
   */
  failed({ scope, reason }: Failure, accountId: string, pauseMs: number): boolean {
    if (scope === 'nobody') return false;
    const nowMs = performance.now();
    this.recent.failed(accountId, nowMs);
    if (scope === 'account') {
      const { failedOnce } = this;
      this.failedOnce = { accountId, untilMs: nowMs + pauseMs };
      const isFirst =
        failedOnce === undefined || failedOnce.accountId === accountId || failedOnce.untilMs <= nowMs;
      if (isFirst) return false;
    }
    this.pause(reason, pauseMs);
    return true;
  }

  /** A response ended before it was complete. */
  wasCut(accountId: string): void {
    this.recent.cut(accountId, performance.now());
  }

  /** It has asked not to be called for a while. */
  rest(ms: number): void {
    const untilMs = performance.now() + ms;
    if (untilMs <= this.restUntilMs) return;
    this.restUntilMs = untilMs;
    this.latestReason = 'It has asked for a pause (Retry-After)';
  }

  /** It is called last, each time in a row for longer. */
  pause(reason: string, pauseMs: number): void {
    const nowMs = performance.now();
    // Calls that fail together are one reason to pause.
    if (this.pauses === 0 || nowMs >= this.untilMs) this.pauses = Math.min(this.pauses + 1, MOST_PAUSES);
    this.forgivenMs = nowMs;
    this.untilMs = Math.max(this.untilMs, nowMs + pauseMs * this.pauses);
    this.latestReason = reason;
    this.isPausing = true;
  }

  /** It pauses since it does much worse than others, and again if its trial takes longer than `slowMs`. */
  pauseAsOutlier(reason: string, pauseMs: number, slowMs: number): void {
    this.slowMs = slowMs;
    this.slowPauseMs = pauseMs;
    this.recent.clear();
    this.pause(reason, pauseMs);
  }

  /** What its own metrics say: 1 is full. `undefined` if they cannot be read. */
  reportsFullness(fullness: number | undefined, nowMs: number): void {
    this.fullUntilMs = fullness !== undefined && fullness >= 1 ? nowMs + FULLNESS_MS : -Infinity;
  }

  /** Whether it has lately reported that it is full. */
  get isFull(): boolean {
    return performance.now() < this.fullUntilMs;
  }

  /** A check succeeded. */
  checked(nowMs: number): void {
    this.lives(nowMs);
    if (!this.down) return;
    this.signs += 1;
    if (this.signs < CHECKS_TO_RETURN) return;
    this.down = false;
    // One real call tries it next.
    this.untilMs = nowMs;
  }

  /** A check failed. Returns whether the backend is down with it. */
  missed(reason: string, pauseMs: number): boolean {
    this.signs = 0;
    this.silence += 1;
    this.latestReason = reason;
    if (this.down || this.silence < CHECKS_TO_FALL) return false;
    this.down = true;
    this.isDoubtful = false;
    this.pause(reason, pauseMs);
    return true;
  }

  /** Whether checks have failed, or must show that it is back. */
  get isInQuestion(): boolean {
    return this.down || this.isDoubtful || this.silence > 0;
  }

  private lives(nowMs: number): void {
    this.lifeMs = nowMs;
    this.silence = 0;
    this.isDoubtful = false;
  }
}
