import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { usageRecorded } from '@svc/contracts/messages';
import { EventStrategy } from '@svc/events';
import { within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';
import { SettlementFallback } from './settlement-fallback.js';

/** The consumer group that posts charges. */
export const LEDGER_GROUP = 'ledger';

/** Whether every recorded charge is posted. */
@Injectable()
export class PostingProgress {
  constructor(
    private readonly events: EventStrategy,
    private readonly fallback: SettlementFallback,
    private readonly settings: LedgerSettings,
  ) {}

  /** Resolves when everything recorded before the call is posted. Rejects after the deadline. */
  async caughtUp(deadlineMs: number): Promise<void> {
    await Promise.all([
      this.events.drained(usageRecorded.topic, LEDGER_GROUP, deadlineMs),
      within(deadlineMs, this.fallback.drained()),
    ]);
  }

  /** Makes a read include what was recorded before it. Rejects with UNAVAILABLE if that takes too long. */
  async beforeRead(): Promise<void> {
    try {
      await this.caughtUp(this.settings.config.LEDGER_READ_WAIT_MS);
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}
