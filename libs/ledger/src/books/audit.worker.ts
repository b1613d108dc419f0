import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AuditScope, auditNewEntries, auditWholeBook } from '@svc/contracts';
import { JobWorkers } from '@svc/jobs';
import { RootLogger } from '@svc/runtime';
import { SettledBooks } from './settled-books.js';

/** What is new takes little time; the whole book is proved when few are awake. In UTC. */
const EVERY_QUARTER = '*/15 * * * *';
const EVERY_NIGHT = '30 3 * * *';

/** Proves the books by itself; metrics and the log tell the result. */
@Injectable()
export class AuditWorker implements OnModuleInit {
  constructor(
    private readonly books: SettledBooks,
    private readonly workers: JobWorkers,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    const times = { payload: {}, cron: EVERY_QUARTER, atStart: true };
    this.workers.work(auditNewEntries, () => this.audit('new'), times);
    this.workers.work(auditWholeBook, () => this.audit('whole'), { payload: {}, cron: EVERY_NIGHT });
  }

  private async audit(scope: AuditScope): Promise<void> {
    const { ok, mismatches } = await this.books.audit(scope);
    if (!ok) this.logger.log.error({ scope, mismatches }, 'the books are not proved');
  }
}
