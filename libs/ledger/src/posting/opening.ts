import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import { Readiness, within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';
import { UsageDrain } from './usage-drain.js';

const PART = 'ledger';
const DRAIN_MS = 1_000;
const RETRY_MS = 200;

/**
 * Keeps holds back until the charges that an earlier run recorded are posted: they are in no hold any more, and in no
 * balance yet.
 */
@Injectable()
export class Opening implements OnApplicationBootstrap, OnModuleDestroy {
  isOpen = false;
  private readonly opened = Promise.withResolvers<void>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly drain: UsageDrain,
    private readonly settings: LedgerSettings,
    private readonly readiness: Readiness,
  ) {}

  onApplicationBootstrap(): void {
    this.readiness.report(PART, 'posting the charges of an earlier run');
    // Tries on until it is open or stopped, and never rejects.
    void this.open();
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Resolves once holds can be taken. Refuses with UNAVAILABLE after a wait. */
  async wait(): Promise<void> {
    const { LEDGER_START_WAIT_MS: waitMs } = this.settings.config;
    await within(waitMs, this.opened.promise, () => new Problem('UNAVAILABLE'));
  }

  private async open(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        await this.drain.wait(DRAIN_MS);
        this.isOpen = true;
        this.readiness.report(PART);
        this.opened.resolve();
        return;
      } catch {
        await sleep(RETRY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    }
  }
}
