import { Injectable, type OnModuleInit } from '@nestjs/common';
import { createMonths } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { MonthsStore } from './months.store.js';

/** In UTC. */
const EVERY_DAY = '45 2 * * *';

/** Creates partitions in advance, so that postings need not. A posting creates any month that is missing. */
@Injectable()
export class MonthsWorker implements OnModuleInit {
  constructor(
    private readonly months: MonthsStore,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    const times = { payload: {}, cron: EVERY_DAY, atStart: true };
    this.workers.work(createMonths, () => this.months.ensureAhead(new Date()), times);
  }
}
