import { inspect } from 'node:util';
import { type Logger, flushLog } from '../logging/logging.js';
import { startFaultText } from '../start-fault.js';
import { within } from '../within.js';

/** Default deadline for undoing one part of a process. */
const UNDO_MS = 30_000;

/** How long a stop waits for a start in progress to reach a point where it can be undone. */
const START_MS = 5_000;

/** Signals within this time count as one: a terminal and npm both send theirs. */
const SAME_SIGNAL_MS = 1_000;

/** How long the reader of the log gets to take what was written. */
const FLUSH_MS = 2_000;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

type Undo = () => Promise<void> | void;

/**
 * Ends a process once, whatever the cause: undoes what was started, in reverse order and each within its
 * deadline, then flushes the log and exits, with 0 if it was asked to stop and everything was undone, else
 * with 1.
 */
export class ProcessEnd {
  /** Set as soon as it exists. */
  logger: Logger | undefined;
  private starting: Promise<unknown> = Promise.resolve();
  private readonly parts: { readonly undo: Undo; readonly deadlineMs: number }[] = [];
  private endingSinceMs: number | undefined;
  private code = 0;

  /** Ends the process on signals, uncaught exceptions and unhandled rejections. */
  watch(): void {
    for (const signal of SIGNALS) process.on(signal, () => this.signalled());
    process.on('uncaughtException', (error) => this.fail('a bug; the process stops', { err: error }));
  }

  /**
   * Awaits the start, also on behalf of a stop that comes in the meantime. Reports any error and ends the
   * process.
   */
  async awaitStart(starting: Promise<void>): Promise<void> {
    this.starting = starting;
    try {
      await starting;
    } catch (error) {
      this.code = 1;
      process.stderr.write(`${startFaultText(error)}\n`);
      this.begin();
    }
  }

  /** Registers how to undo something. */
  undo(undo: Undo, deadlineMs = UNDO_MS): void {
    this.parts.push({ undo, deadlineMs });
  }

  /** Logs the reason and ends the process with 1. */
  fail(reason: string, fields: object = {}): void {
    this.code = 1;
    if (this.logger) this.logger.fatal(fields, reason);
    else process.stderr.write(`${reason} ${inspect(fields)}\n`);
    this.begin();
  }

  private signalled(): void {
    if (this.endingSinceMs === undefined) this.begin();
    // A later second signal means that its sender does not want to wait.
    else if (performance.now() - this.endingSinceMs > SAME_SIGNAL_MS) void this.leave(1);
  }

  private begin(): void {
    if (this.endingSinceMs !== undefined) return;
    this.endingSinceMs = performance.now();
    // Never rejects, and ends the process.
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

  /** Never rejects. */
  private async leave(code: number): Promise<void> {
    // Exiting in the middle of a write would leave a torn line.
    if (this.logger) await within(FLUSH_MS, flushLog(this.logger)).catch(() => undefined);
    process.exit(code);
  }
}
