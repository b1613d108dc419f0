import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type Charge, Problem, encodeCharge } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { within } from '../deadline.js';
import { LedgerSettings } from '../ledger.config.js';
import { Poster } from './poster.js';

interface Waiting {
  readonly charge: Charge;
  readonly sinceMs: number;
  readonly posted: PromiseWithResolvers<void>;
}

const BATCH = 500;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * The second way of a charge into the books, for when the event log does not take it. One transaction at a time, with
 * all charges that have come meanwhile.
 */
@Injectable()
export class DirectPosting implements BeforeApplicationShutdown {
  private readonly queue: Waiting[] = [];
  private running: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly poster: Poster,
    private readonly settings: LedgerSettings,
    private readonly logger: RootLogger,
  ) {}

  /** Charges that wait. */
  get size(): number {
    return this.queue.length;
  }

  /** Resolves once the charge is posted. Refuses with UNAVAILABLE when that takes too long; it is tried on all the same. */
  async post(charge: Charge, reason: unknown): Promise<void> {
    this.logger.log.warn(
      { requestId: charge.requestId, error: String(reason) },
      'the event log did not take a charge; it is posted directly',
    );
    const { LEDGER_MAX_UNPOSTED, LEDGER_SETTLE_WAIT_MS } = this.settings.config;
    if (this.queue.length >= LEDGER_MAX_UNPOSTED || this.stopping.signal.aborted) {
      await this.lose(charge);
      throw new Problem('UNAVAILABLE');
    }
    const waiting: Waiting = { charge, sinceMs: performance.now(), posted: Promise.withResolvers() };
    this.queue.push(waiting);
    this.running ??= this.run();
    await within(LEDGER_SETTLE_WAIT_MS, waiting.posted.promise);
  }

  /** Tries once more before the database goes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
    while (this.queue.length > 0 && (await this.postNext()));
    for (const { charge } of this.queue.splice(0)) await this.lose(charge);
  }

  /** Posts until nobody waits. Never rejects. */
  private async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (this.queue.length > 0 && !this.stopping.signal.aborted) {
      if (await this.postNext()) {
        retryMs = FIRST_RETRY_MS;
        continue;
      }
      await this.giveUpOld();
      await sleep(retryMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
    this.running = undefined;
  }

  /** Posts the charges that have waited longest. False when that fails. */
  private async postNext(): Promise<boolean> {
    const batch = this.queue.slice(0, BATCH);
    try {
      await this.poster.post(batch.map(({ charge }) => charge));
    } catch (error) {
      this.logger.log.warn(
        { charges: this.queue.length, error: String(error) },
        'charges could not be posted',
      );
      return false;
    }
    // Only this method and those that run when it does not take from the queue.
    this.queue.splice(0, batch.length);
    for (const { posted } of batch) posted.resolve();
    return true;
  }

  private async giveUpOld(): Promise<void> {
    const oldestMs = performance.now() - this.settings.config.LEDGER_RETRY_FOR_MS;
    while (this.queue[0] && this.queue[0].sinceMs < oldestMs) {
      const waiting = this.queue.shift();
      if (waiting) await this.lose(waiting.charge);
    }
  }

  /** Nobody was told that this charge is durable. The line has all that is needed to post it by hand. */
  private async lose(charge: Charge): Promise<void> {
    this.logger.log.error({ charge: encodeCharge(charge) }, 'a charge was given up');
    await this.poster.forget(charge).catch(() => undefined);
  }
}
