import { Injectable } from '@nestjs/common';
import { type Charge, EventLog, encodeCharge, usageRecorded } from '@svc/contracts';
import { within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';

/** The event log as charges see it. While it fails, each waits for a short time only, not for the log's own deadline. */
@Injectable()
export class ChargeLog {
  private isFailing = false;

  constructor(
    private readonly log: EventLog,
    private readonly settings: LedgerSettings,
  ) {}

  /** Resolves once the log has stored the charge. Where it rejects, the log may have stored it nevertheless. */
  async record(charge: Charge): Promise<void> {
    const stored = this.log.publish(usageRecorded, encodeCharge(charge));
    try {
      await (this.isFailing ? within(this.settings.config.LEDGER_FAILING_LOG_MS, stored) : stored);
      this.isFailing = false;
    } catch (error) {
      this.isFailing = true;
      void this.watchRecovery(stored);
      throw error;
    }
  }

  /** A log that stores something late no longer fails. */
  private async watchRecovery(stored: Promise<void>): Promise<void> {
    try {
      await stored;
      this.isFailing = false;
    } catch {
      // It fails as before.
    }
  }
}
