import { Injectable } from '@nestjs/common';
import { Problem, usageRecorded } from '@svc/contracts';
import { EventStrategy } from '@svc/events';
import { within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';
import { SettlementFallback } from './settlement-fallback.js';

/** The group that posts what usage costs. */
export const LEDGER_GROUP = 'ledger';

/** Whether every charge that was recorded is posted too. */
@Injectable()
export class PostingProgress {
  constructor(
    private readonly events: EventStrategy,
    private readonly fallback: SettlementFallback,
    private readonly settings: LedgerSettings,
  ) {}

  /** Resolves when all that was recorded at the time of the call is posted. Rejects after the deadline. */
  async caughtUp(deadlineMs: number): Promise<void> {
    await Promise.all([
      this.events.drained(usageRecorded.topic, LEDGER_GROUP, deadlineMs),
      within(deadlineMs, this.fallback.drained()),
    ]);
  }

  /** Lets a read see what was recorded before it. Refuses with UNAVAILABLE when that takes too long. */
  async beforeRead(): Promise<void> {
    try {
      await this.caughtUp(this.settings.config.LEDGER_READ_WAIT_MS);
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}
