import { type LimitsState, Problem } from '@svc/contracts';
import { within } from '@svc/runtime';
import type { LimiterLog } from '../counting/leasing-limiter.js';

/** So many calls in a row that fail are more than a hiccup. */
const FAULTS_IN_A_ROW = 5;

/** How often it is looked whether the shared count is back. */
const PROBE_EVERY_MS = 200;

/** Calls that have no answer yet, late ones included. More are not begun. */
const MAX_WAITING = 10_000;

export interface LinkOptions {
  /** What is at the other end, for the log. */
  readonly to: string;
  /** Nobody waits longer for an answer. */
  readonly waitMs: number;
  /** Resolves when the other end works. */
  readonly probe: () => Promise<void>;
  readonly onBack: () => void;
  readonly log: LimiterLog;
}

type LinkState = Omit<LimitsState, 'localAdmits' | 'localRefusals'>;

/**
 * The way to the shared count. It asks with a deadline, gives up asking after a few failures, and looks in the
 * background whether the other end works again.
 */
export class SharedLink {
  private mode: LimitsState['mode'] = 'shared';
  private since = new Date();
  private reason: string | undefined;
  private faults = 0;
  private faultsInARow = 0;
  private waiting = 0;
  private timer: NodeJS.Timeout | undefined;
  private isProbing = false;

  constructor(private readonly options: LinkOptions) {}

  state(): LinkState {
    const { mode, since, reason, faults, waiting } = this;
    return { mode, since: since.toISOString(), ...(reason !== undefined && { reason }), faults, waiting };
  }

  /**
   * The answer, or nothing when there is none in time. `late` gets an answer that comes after that: it has to undo what
   * the call did.
   */
  ask<Value>(
    call: () => Promise<Value>,
    late?: (value: Value) => void,
  ): Promise<{ readonly value: Value } | undefined> {
    if (this.mode === 'local' || this.waiting >= MAX_WAITING) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<{ readonly value: Value } | undefined>();
    let isOver = false;
    const giveUp = (reason: string): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.failed(reason);
      resolve(undefined);
    };
    // A busy process sees its timers before its sockets: what has arrived in time is read first.
    const timer = setTimeout(
      () => setImmediate(giveUp, `no answer in ${this.options.waitMs} ms`),
      this.options.waitMs,
    );
    this.waiting += 1;
    call().then(
      (value) => {
        this.waiting -= 1;
        if (isOver) return late?.(value);
        isOver = true;
        clearTimeout(timer);
        this.faultsInARow = 0;
        return resolve({ value });
      },
      (error: unknown) => {
        this.waiting -= 1;
        giveUp(messageOf(error));
      },
    );
    return promise;
  }

  /** Waits until the other end works, or begins without it. */
  async open(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    let reason = '';
    do {
      try {
        await within(Math.max(1, deadline - performance.now()), this.options.probe());
        return;
      } catch (error) {
        // What an attempt said that ended by itself tells more than that time was up.
        if (reason === '' || performance.now() < deadline) reason = messageOf(error);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    } while (performance.now() < deadline);
    this.goLocal(reason);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private failed(reason: string): void {
    this.faults += 1;
    this.faultsInARow += 1;
    if (this.mode === 'shared' && this.faultsInARow >= FAULTS_IN_A_ROW) this.goLocal(reason);
  }

  private goLocal(reason: string): void {
    this.turn('local', reason);
    this.options.log.warn(
      { to: this.options.to, reason },
      'limits are local: the shared count is out of reach',
    );
    // A probe ends by itself, and tells nobody of its failure.
    this.timer = setInterval(() => void this.probe(), PROBE_EVERY_MS).unref();
  }

  /** One probe at a time, for as long as it takes: a server that stands still is not sent more. */
  private async probe(): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    try {
      const startMs = performance.now();
      await this.options.probe();
      if (this.mode === 'local' && performance.now() - startMs <= this.options.waitMs) this.goShared();
    } catch (error) {
      this.reason = messageOf(error);
    } finally {
      this.isProbing = false;
    }
  }

  private goShared(): void {
    clearInterval(this.timer);
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
  const said = error instanceof Problem ? (error.cause ?? error) : error;
  return said instanceof Error ? said.message : String(said);
}
