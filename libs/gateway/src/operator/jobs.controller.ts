import { Controller, Param, Query } from '@nestjs/common';
import { type JobList, JobQuery, type JobView } from '@svc/api/operator';
import { type MediaJobRecord, MediaJobs, UNFINISHED_JOB_STATES } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';

/** The operator's view of the jobs that make videos and music. */
@Controller()
export class JobsController {
  constructor(private readonly jobs: MediaJobs) {}

  @Serves(routes.listJobs)
  async list(@Query() { state, from, until, before, ...query }: JobQuery): Promise<JobList> {
    const found = await this.jobs.list({
      ...query,
      ...(state !== undefined && { states: state === 'unfinished' ? UNFINISHED_JOB_STATES : [state] }),
      ...(from !== undefined && { from: new Date(from) }),
      ...(until !== undefined && { until: new Date(until) }),
      ...(before !== undefined && { before: placeOf(before) }),
    });
    const last = found.at(-1);
    const nextBefore = last && found.length === query.limit ? `${last.createdAt.getTime()}_${last.id}` : null;
    return { object: 'list', data: found.map(viewOf), nextBefore };
  }

  /** The reason is in the log of operator actions. */
  @Serves(routes.endJob)
  async end(@Param() { id }: { id: string }): Promise<JobView> {
    return viewOf(await this.jobs.end(id));
  }
}

/** Where a page begins, even if the last job of the page before has been deleted. */
function placeOf(before: string): { createdAt: Date; id: string } {
  const [ms, id = ''] = before.split('_');
  return { createdAt: new Date(Number(ms)), id };
}

function viewOf(job: MediaJobRecord): JobView {
  const { id, requestId, accountId, keyId, kind, model, state, submits } = job;
  const { failureCode: code, failureMessage: message = '' } = job;
  return {
    id,
    requestId,
    accountId,
    keyId,
    kind,
    model,
    state,
    backend: job.backend ?? null,
    submits,
    failure: code === undefined ? null : { code, message },
    refund: job.refund ?? null,
    bytes: job.bytes ?? null,
    createdAt: job.createdAt.toISOString(),
    startedAt: job.startedAt?.toISOString() ?? null,
    endedAt: job.endedAt?.toISOString() ?? null,
    deadlineAt: job.deadlineAt.toISOString(),
    expiresAt: job.expiresAt.toISOString(),
  };
}
