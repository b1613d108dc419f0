import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { CHARGES_PER_POSTING, Charges } from '@svc/contracts/ports';
import type { Charge } from '@svc/contracts/messages';
import { RootLogger, retrying } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { SettlementSettings } from '../ledger.config.js';

/** A charge on its way into the books. */
export interface PostingAttempt {
  readonly charge: Charge;
  /** Resolves once the charge is posted. Rejects if the process ends first. */
  readonly posted: Promise<void>;
}

interface WaitingAttempt extends PostingAttempt {
  readonly end: PromiseWithResolvers<void>;
}

const DELAYS = { firstMs: 100, lastMs: 2_000 };

/**
 * Posts charges that the event log did not take: one transaction at a time, with all charges that arrived
 * meanwhile, retried until it succeeds.
 */
@Injectable()
export class DirectPosting implements BeforeApplicationShutdown {
  private queue: WaitingAttempt[] = [];
  private running: Promise<void> | undefined;
  private failed = false;
  private readonly stopping = new AbortController();
  private readonly endWatch = money.unposted.observe(() => [[this.queue.length]]);

  constructor(
    private readonly books: Charges,
    private readonly settings: SettlementSettings,
    private readonly logger: RootLogger,
  ) {}

  /** The number of waiting charges. */
  get size(): number {
    return this.queue.length;
  }

  /** How long a charge may wait to be posted. */
  get waitMs(): number {
    return this.settings.config.LEDGER_SETTLE_WAIT_MS;
  }

  /** Whether the last posting failed. */
  get isFailing(): boolean {
    return this.failed;
  }

  /** Whether the maximum number of charges waits. */
  get isFull(): boolean {
    return this.queue.length >= this.settings.config.LEDGER_MAX_UNPOSTED;
  }

  /** Starts posting a charge. */
  begin(charge: Charge): PostingAttempt {
    const end = Promise.withResolvers<void>();
    // The caller may have stopped waiting.
    end.promise.catch(() => undefined);
    const waiting: WaitingAttempt = { charge, posted: end.promise, end };
    if (this.stopping.signal.aborted) {
      end.reject(new Error('the process ends'));
      return waiting;
    }
    this.queue.push(waiting);
    this.running ??= this.run();
    return waiting;
  }

  /** Stops trying a charge. One that is being posted right now is still posted. */
  withdraw(attempt: PostingAttempt): void {
    this.queue = this.queue.filter((waiting) => waiting !== attempt);
  }

  /** Tries once more before the database connection closes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.endWatch();
    await this.running;
    await this.postAll().catch(() => undefined);
    for (const { end } of this.queue.splice(0)) end.reject(new Error('the process ends'));
  }

  private async postAll(): Promise<void> {
    while (this.queue.length > 0) await this.postNext();
  }

  /** Posts until the queue is empty. Never rejects. */
  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (this.queue.length > 0 && !signal.aborted)
      await retrying(() => this.postNext(), { ...DELAYS, signal }).catch(() => undefined);
    this.running = undefined;
  }

  /** Posts the charges that have waited longest. */
  private async postNext(): Promise<void> {
    const batch = new Set(this.queue.slice(0, CHARGES_PER_POSTING));
    // They may have been withdrawn before a retry.
    if (batch.size === 0) return;
    try {
      await this.books.post(Array.from(batch, ({ charge }) => charge));
    } catch (error) {
      this.failed = true;
      this.logger.log.warn(
        { charges: this.queue.length, error: String(error) },
        'charges could not be posted to the books',
      );
      throw error;
    }
    this.failed = false;
    this.queue = this.queue.filter((waiting) => !batch.has(waiting));
    for (const { end } of batch) end.resolve();
  }
}
