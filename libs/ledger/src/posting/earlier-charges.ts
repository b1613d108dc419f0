import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { Readiness, retrying, within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';
import { PostingProgress } from './posting-progress.js';

const PART = 'ledger';
const TRY_MS = 1_000;
const RETRY_MS = 200;

/**
 * Delays holds until the charges recorded by an earlier run are posted: they are no longer covered by a hold,
 * and not yet in a balance.
 */
@Injectable()
export class EarlierCharges implements OnApplicationBootstrap, OnModuleDestroy {
  arePosted = false;
  private readonly allPosted = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly progress: PostingProgress,
    private readonly settings: LedgerSettings,
    private readonly readiness: Readiness,
  ) {}

  onApplicationBootstrap(): void {
    this.readiness.report(PART, 'posting the charges of an earlier run');
    // Retries until they are posted or the process stops, and never rejects.
    void this.waitForThem();
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Resolves once holds can be taken. Rejects with UNAVAILABLE after a timeout. */
  async posted(): Promise<void> {
    const { LEDGER_START_WAIT_MS: waitMs } = this.settings.config;
    await within(waitMs, this.allPosted.promise, () => new Problem('UNAVAILABLE'));
  }

  private async waitForThem(): Promise<void> {
    const { signal } = this.stopping;
    const retries = { firstMs: RETRY_MS, lastMs: RETRY_MS, signal };
    try {
      await retrying(() => this.progress.caughtUp(TRY_MS), retries);
    } catch {
      return; // It is stopped.
    }
    this.arePosted = true;
    this.readiness.report(PART);
    this.allPosted.resolve();
  }
}
