import { Injectable } from '@nestjs/common';
import { type Charge, EventLog, encodeCharge, usageRecorded } from '@svc/contracts';

/** Why a charge did not wait for the log to say something of it. */
const FAILING = 'the event log does not answer';

/**
 * The event log as charges see it. Once it has failed one, no other waits for it, until it has stored one: they are told
 * at once that it fails, and one at a time is given to it to find out.
 */
@Injectable()
export class ChargeLog {
  private isFailing = false;
  private isTrying = false;
  /** Those who wait for the log, to be told when it fails. */
  private readonly waiting = new Set<(error: Error) => void>();

  constructor(private readonly log: EventLog) {}

  /** Resolves once the log has stored the charge. Where it rejects, the log may have stored it nevertheless. */
  record(charge: Charge): Promise<void> {
    if (this.isFailing) {
      this.tryWith(charge);
      return Promise.reject(new Error(FAILING));
    }
    const stored = this.log.publish(usageRecorded, encodeCharge(charge));
    return new Promise((resolve, reject) => {
      this.waiting.add(reject);
      stored.then(
        () => {
          this.waiting.delete(reject);
          this.isFailing = false;
          resolve();
        },
        (error: unknown) => {
          this.fail(error instanceof Error ? error : new Error(FAILING, { cause: error }));
        },
      );
    });
  }

  private fail(error: Error): void {
    this.isFailing = true;
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const reject of waiting) reject(error);
  }

  /** The charge goes another way, and two copies of it are charged once. */
  private tryWith(charge: Charge): void {
    if (this.isTrying) return;
    this.isTrying = true;
    void this.log
      .publish(usageRecorded, encodeCharge(charge))
      .then(
        () => {
          this.isFailing = false;
        },
        () => undefined, // It fails as before.
      )
      .finally(() => {
        this.isTrying = false;
      });
  }
}
