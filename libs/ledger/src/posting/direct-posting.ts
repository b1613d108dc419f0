import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { CHARGES_PER_POSTING, type Charge, Charges } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { SettlementSettings } from '../ledger.config.js';

/** A charge that is on its way into the books. */
export interface Attempt {
  readonly charge: Charge;
  /** Resolves once the charge is posted. Rejects where it no longer is tried, as the process ends. */
  readonly posted: Promise<void>;
}

interface Waiting extends Attempt {
  readonly end: PromiseWithResolvers<void>;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;

/**
 * Posts charges that the event log did not take: one transaction at a time, with all that have come meanwhile, tried
 * again until it succeeds.
 */
@Injectable()
export class DirectPosting implements BeforeApplicationShutdown {
  private queue: Waiting[] = [];
  private running: Promise<void> | undefined;
  private failed = false;
  private readonly stopping = new AbortController();
  private readonly endWatch = money.unposted.observe(() => [[this.queue.length]]);

  constructor(
    private readonly books: Charges,
    private readonly settings: SettlementSettings,
    private readonly logger: RootLogger,
  ) {}

  /** Charges that wait. */
  get size(): number {
    return this.queue.length;
  }

  /** How long a charge may wait to be posted. */
  get waitMs(): number {
    return this.settings.config.LEDGER_SETTLE_WAIT_MS;
  }

  /** The books did not take what was posted last. */
  get isFailing(): boolean {
    return this.failed;
  }

  /** As many wait as may. */
  get isFull(): boolean {
    return this.queue.length >= this.settings.config.LEDGER_MAX_UNPOSTED;
  }

  /** Begins to post a charge. */
  begin(charge: Charge): Attempt {
    const end = Promise.withResolvers<void>();
    // Who began it may have stopped waiting.
    end.promise.catch(() => undefined);
    const waiting: Waiting = { charge, posted: end.promise, end };
    if (this.stopping.signal.aborted) {
      end.reject(new Error('the process ends'));
      return waiting;
    }
    this.queue.push(waiting);
    this.running ??= this.run();
    return waiting;
  }

  /** Tries a charge no more. One that is being posted at this moment is posted nevertheless. */
  withdraw(attempt: Attempt): void {
    this.queue = this.queue.filter((waiting) => waiting !== attempt);
  }

  /** Tries once more before the database goes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.endWatch();
    await this.running;
    while (this.queue.length > 0 && (await this.postNext()));
    for (const { end } of this.queue.splice(0)) end.reject(new Error('the process ends'));
  }

  /** Posts until nobody waits. Never rejects. */
  private async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (this.queue.length > 0 && !this.stopping.signal.aborted) {
      if (await this.postNext()) {
        retryMs = FIRST_RETRY_MS;
        continue;
      }
      await sleep(retryMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
    this.running = undefined;
  }

  /** Posts the charges that have waited longest. False when that fails. */
  private async postNext(): Promise<boolean> {
    const batch = new Set(this.queue.slice(0, CHARGES_PER_POSTING));
    try {
      await this.books.post(Array.from(batch, ({ charge }) => charge));
    } catch (error) {
      this.failed = true;
      this.logger.log.warn(
        { charges: this.queue.length, error: String(error) },
        'charges could not be posted',
      );
      return false;
    }
    this.failed = false;
    this.queue = this.queue.filter((waiting) => !batch.has(waiting));
    for (const { end } of batch) end.resolve();
    return true;
  }
}
