import { auditAllPayments, auditNewPayments } from '@svc/contracts/messages';
import type { AuditScope } from '@svc/contracts/ports';
import type { JobWorkers } from '@svc/jobs';
import type { PaymentsAudit } from './payments-audit.js';

/** In UTC. New payments are audited often, all of them rarely, because that reads whole chains. */
const EVERY_QUARTER = '*/15 * * * *';
const EVERY_NIGHT = '30 4 * * *';

/** Runs the audits of payments on a schedule. They report their findings themselves. */
export function scheduleAudits(workers: JobWorkers, audit: PaymentsAudit): void {
  const run = (scope: AuditScope) => async (): Promise<void> => {
    await audit.run(scope);
  };
  workers.work(auditNewPayments, run('new'), { payload: {}, cron: EVERY_QUARTER, atStart: true });
  workers.work(auditAllPayments, run('whole'), { payload: {}, cron: EVERY_NIGHT });
}
