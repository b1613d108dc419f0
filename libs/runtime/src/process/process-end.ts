import { inspect } from 'node:util';
import { type Logger, flushLog } from '../logging/logging.js';
import { tellStartFault } from '../start-fault.js';
import { within } from '../within.js';

/** A part of a process gets this long to be undone. */
const UNDO_MS = 30_000;

/** A start that is to end gets this long to come to a point where what it has begun can be undone. */
const START_MS = 5_000;

/** A second signal soon after the first one is the same: a terminal and npm both send theirs. */
const SAME_SIGNAL_MS = 1_000;

/** Whoever reads the log gets this long to take what was written. */
const FLUSH_MS = 2_000;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

type Undo = () => Promise<void> | void;

/**
 * How a process ends, once, whatever ends it: what was started is undone, last things first, each within its deadline;
 * then the log is written and the process exits, with 0 where it was told to stop and all could be undone, else with 1.
 */
export class ProcessEnd {
  /** Set as soon as there is one. */
  logger: Logger | undefined;
  private starting: Promise<unknown> = Promise.resolve();
  private readonly parts: { readonly undo: Undo; readonly deadlineMs: number }[] = [];
  private endingSinceMs: number | undefined;
  private code = 0;

  /** Ends the process on signals, and on what nobody has caught. */
  watch(): void {
    for (const signal of SIGNALS) process.on(signal, () => this.signalled());
    process.on('uncaughtException', (error) => this.fail('a bug; the process stops', { err: error }));
  }

  /** Waits for the start, here and before an end that comes meanwhile. Whatever it throws is told and ends the process. */
  async awaitStart(starting: Promise<void>): Promise<void> {
    this.starting = starting;
    try {
      await starting;
    } catch (error) {
      this.code = 1;
      process.stderr.write(`${tellStartFault(error)}\n`);
      this.begin();
    }
  }

  /** Remembers how to undo something. */
  undo(undo: Undo, deadlineMs = UNDO_MS): void {
    this.parts.push({ undo, deadlineMs });
  }

  /** Ends the process with 1, and says why in the log. */
  fail(reason: string, fields: object = {}): void {
    this.code = 1;
    if (this.logger) this.logger.fatal(fields, reason);
    else process.stderr.write(`${reason} ${inspect(fields)}\n`);
    this.begin();
  }

  private signalled(): void {
    if (this.endingSinceMs === undefined) this.begin();
    // Somebody does not want to wait any longer.
    else if (performance.now() - this.endingSinceMs > SAME_SIGNAL_MS) void this.leave(1);
  }

  private begin(): void {
    if (this.endingSinceMs !== undefined) return;
    this.endingSinceMs = performance.now();
    // It never rejects, and ends the process.
    void this.undoAll();
  }

  private async undoAll(): Promise<void> {
    await within(START_MS, this.starting).catch(() => undefined);
    for (let part = this.parts.pop(); part; part = this.parts.pop()) {
      try {
        await within(part.deadlineMs, Promise.resolve(part.undo()));
      } catch (error) {
        this.code = 1;
        process.stderr.write(`while stopping: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
    await this.leave(this.code);
  }

  /** It never rejects. */
  private async leave(code: number): Promise<void> {
    // A write that is cut by the end would leave a torn line.
    if (this.logger) await within(FLUSH_MS, flushLog(this.logger)).catch(() => undefined);
    process.exit(code);
  }
}
