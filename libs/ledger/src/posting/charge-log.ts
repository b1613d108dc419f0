import { Injectable } from '@nestjs/common';
import { type Charge, EventLog, usageRecorded } from '@svc/contracts/messages';
import { PassingSet, within } from '@svc/runtime';
import { LOG_MS } from './settlement-time.js';

/** Rejection of a charge while the log is failing. */
const FAILING = 'the event log does not respond';

/**
 * The event log for charges, with a circuit breaker. After one failed charge, other charges are rejected at
 * once, and one charge at a time probes the log, until it has stored one.
 */
@Injectable()
export class ChargeLog {
  protected readonly deadlineMs: number = LOG_MS;
  private isFailing = false;
  private isTrying = false;
  /** Rejects the charges that wait for the log when it fails. */
  private readonly waiting = new PassingSet<(error: Error) => void>();
  /** The latest commit and its outcome, which all its charges share. */
  private commit: { readonly stored: Promise<void>; readonly outcome: Promise<void> } | undefined;

  constructor(private readonly log: EventLog) {}

  /** Resolves once the log has stored the charge. If it rejects, the log may still have stored it. */
  record(charge: Charge): Promise<void> {
    if (this.isFailing) {
      this.tryWith(charge);
      return Promise.reject(new Error(FAILING));
    }
    const stored = this.log.publish(usageRecorded, charge);
    if (stored !== this.commit?.stored) this.commit = { stored, outcome: this.outcomeOf(stored) };
    return this.commit.outcome;
  }

  private outcomeOf(stored: Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.waiting.add(reject);
    stored.then(
      () => {
        this.waiting.delete(reject);
        this.isFailing = false;
        resolve();
      },
      () => undefined,
    );
    within(this.deadlineMs, stored).catch((error: unknown) => {
      this.fail(error instanceof Error ? error : new Error(FAILING, { cause: error }));
    });
    return promise;
  }

  private fail(error: Error): void {
    this.isFailing = true;
    for (const reject of this.waiting) {
      this.waiting.delete(reject);
      reject(error);
    }
  }

  /** The charge also takes another way; two copies of it are charged once. */
  private tryWith(charge: Charge): void {
    if (this.isTrying) return;
    this.isTrying = true;
    void this.log
      .publish(usageRecorded, charge)
      .then(
        () => {
          this.isFailing = false;
        },
        () => undefined, // It still fails.
      )
      .finally(() => {
        this.isTrying = false;
      });
  }
}
