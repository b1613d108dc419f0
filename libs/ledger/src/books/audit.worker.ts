import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AuditScope, Books } from '@svc/contracts/ports';
import { auditNewEntries, auditWholeBook } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { RootLogger } from '@svc/runtime';

/** In UTC. An audit of new entries is quick; the whole book is proved when traffic is low. */
const EVERY_QUARTER = '*/15 * * * *';
const EVERY_NIGHT = '30 3 * * *';

/** Audits the books on a schedule, and reports the result in metrics and the log. */
@Injectable()
export class AuditWorker implements OnModuleInit {
  constructor(
    private readonly books: Books,
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
    if (!ok) this.logger.log.error({ scope, mismatches }, 'the audit of the books found mismatches');
  }
}
