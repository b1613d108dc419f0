import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { RootLogger } from '@svc/runtime';
import { MonthsStore } from './months.store.js';

const DAY_MS = 86_400_000;

/** Creates partitions in advance, so that postings need not. */
@Injectable()
export class MonthSchedule implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly months: MonthsStore,
    private readonly logger: RootLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.ensure();
    // A failure is logged; a posting creates any month that is still missing.
    this.timer = setInterval(() => void this.ensure(), DAY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private async ensure(): Promise<void> {
    try {
      await this.months.ensureAhead(new Date());
    } catch (error) {
      this.logger.log.warn({ error: String(error) }, 'partitions for the next months could not be created');
    }
  }
}
