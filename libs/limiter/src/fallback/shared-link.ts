import type { LimitsState } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { PassingSet, within } from '@svc/runtime';
import type { LimiterLog } from '../counting/renewing-limiter.js';

/**
 * The link is down after this number of consecutive failed calls, even if other calls still get responses.
 */
const FAULTS_IN_A_ROW = 5;

/** How often a link that is down is probed. */
const PROBE_EVERY_MS = 200;

/** Calls without a response, including those whose callers gave up. Beyond this, calls are not sent. */
const MAX_WAITING = 10_000;

/**
 * Number of steps per wait. Each is one timer, however late it fires, and sockets are read before it counts:
 * a process too busy to read a response does not mistake that for a server that is down.
 */
const STEPS = 10;

export interface LinkOptions {
  /** The name of the other end, for the log. */
  readonly to: string;
  /** How long a call waits, not counting time in which this process could not read the response. */
  readonly waitMs: number;
  /** Resolves when the other end works. */
  readonly probe: () => Promise<void>;
  /** Runs once the other end works, before it is used again. */
  readonly beforeBack: () => Promise<void>;
  readonly onBack: () => void;
  readonly log: LimiterLog;
}

type LinkState = Omit<LimitsState, 'localAdmits' | 'localRefusals'>;

interface WaitingCall {
  /** The step and the number of responses on this link when the call was sent. */
  readonly sinceStep: number;
  readonly sinceAnswers: number;
  readonly giveUp: () => void;
}

/**
 * The connection to the shared count. A call without a response in time is abandoned. If nothing at all came
 * back meanwhile, or after a few consecutive failures, the link is down: calls are refused at once, and the
 * other end is probed in the background until it works.
 */
export class SharedLink {
  private mode: LimitsState['mode'] = 'shared';
  private since = new Date();
  private reason: string | undefined;
  private faults = 0;
  private faultsInARow = 0;
  private waiting = 0;
  /** Calls that are still awaited, oldest first. */
  private readonly calls = new PassingSet<WaitingCall>();
  private step = 0;
  private responses = 0;
  private stepTimer: NodeJS.Timeout | undefined;
  private probeTimer: NodeJS.Timeout | undefined;
  private isProbing = false;

  constructor(private readonly options: LinkOptions) {}

  get isShared(): boolean {
    return this.mode === 'shared';
  }

  state(): LinkState {
    const { mode, since, reason, faults, waiting } = this;
    return { mode, since: since.toISOString(), ...(reason !== undefined && { reason }), faults, waiting };
  }

  /**
   * Returns the response, or undefined if none arrives in time. `late` receives a response after that, and
   * has to undo the effect of the call.
   */
  ask<Value>(
    call: (isAwaited: () => boolean) => Promise<Value>,
    late?: (value: Value) => void,
  ): Promise<{ readonly value: Value } | undefined> {
    if (!this.isShared || this.waiting >= MAX_WAITING) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<{ readonly value: Value } | undefined>();
    const waiting: WaitingCall = {
      sinceStep: this.step,
      sinceAnswers: this.responses,
      giveUp: () => resolve(undefined),
    };
    this.waiting += 1;
    this.calls.add(waiting);
    this.watch();
    call(() => this.calls.has(waiting)).then(
      (value) => {
        this.waiting -= 1;
        this.responses += 1;
        if (!this.calls.delete(waiting)) return late?.(value);
        this.faultsInARow = 0;
        return resolve({ value });
      },
      (error: unknown) => {
        this.waiting -= 1;
        if (this.calls.delete(waiting)) this.failed(waiting, messageOf(error));
      },
    );
    return promise;
  }

  /** Waits until the other end works, or starts without it. */
  async open(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    let reason = '';
    do {
      try {
        await within(Math.max(1, deadline - performance.now()), this.options.probe());
        return;
      } catch (error) {
        // An attempt's own error says more than a timeout.
        if (reason === '' || performance.now() < deadline) reason = messageOf(error);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    } while (performance.now() < deadline);
    this.goLocal(reason);
  }

  close(): void {
    clearTimeout(this.stepTimer);
    clearInterval(this.probeTimer);
  }

  /**
   * Counts steps while any call is awaited. What arrived while this process was busy is read between timer
   * and step.
   */
  private watch(): void {
    this.stepTimer ??= setTimeout(() => setImmediate(() => this.takeStep()), this.options.waitMs / STEPS);
  }

  private takeStep(): void {
    this.stepTimer = undefined;
    this.step += 1;
    for (const waiting of this.calls) {
      if (this.step - waiting.sinceStep <= STEPS) break;
      this.calls.delete(waiting);
      const reason = `no response in ${this.options.waitMs} ms`;
      this.failed(waiting, reason);
      if (waiting.sinceAnswers === this.responses) this.goLocal(reason);
    }
    if (this.calls.size > 0) this.watch();
  }

  private failed({ giveUp }: WaitingCall, reason: string): void {
    this.faults += 1;
    this.faultsInARow += 1;
    if (this.faultsInARow >= FAULTS_IN_A_ROW) this.goLocal(reason);
    giveUp();
  }

  private goLocal(reason: string): void {
    if (!this.isShared) return;
    this.turn('local', reason);
    this.options.log.warn(
      { to: this.options.to, reason },
      'limits are counted locally: the shared count is unavailable',
    );
    for (const waiting of this.calls) {
      waiting.giveUp();
      this.calls.delete(waiting);
    }
    // A failed probe never rejects: its reason is in the state.
    this.probeTimer = setInterval(() => void this.probe(), PROBE_EVERY_MS).unref();
  }

  /** One probe at a time, however long it takes: a stalled server gets no more. */
  private async probe(): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    try {
      const startMs = performance.now();
      await this.options.probe();
      if (this.isShared || performance.now() - startMs > this.options.waitMs) return;
      await this.options.beforeBack();
      this.goShared();
    } catch (error) {
      this.reason = messageOf(error);
    } finally {
      this.isProbing = false;
    }
  }

  private goShared(): void {
    clearInterval(this.probeTimer);
    const localMs = Date.now() - this.since.getTime();
    this.turn('shared', undefined);
    this.options.log.warn({ to: this.options.to, localMs }, 'limits are shared again');
    this.options.onBack();
  }

  private turn(mode: LimitsState['mode'], reason: string | undefined): void {
    this.mode = mode;
    this.reason = reason;
    this.since = new Date();
    this.faultsInARow = 0;
  }
}

function messageOf(error: unknown): string {
  const cause = error instanceof Problem ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
