import { Charges, ENDED_BY_OPERATOR } from '@svc/contracts/ports';
import { type Charge, MEDIA_JOBS_BACKEND, NO_USAGE } from '@svc/contracts/messages';
import { BackendJobs, type BackendJobStatus, type CallOrigin, type JobCall } from '@svc/contracts/inference';
import { NO_MONEY } from '@svc/contracts/money';
import { Problem, type ProblemCode } from '@svc/contracts/problems';
import type { Logger } from '@svc/runtime';
import { mediaJobs } from '@svc/telemetry';
import { mediaType, ofKind } from '../files/media-type.js';
import { type MediaStore, ObjectTooLarge } from '../files/media-store.js';
import type { JobChange, JobRecord } from '../records/job-record.js';
import { type Claim, type JobStore, UNCHARGED } from '../records/job.store.js';

export interface JobStepParts {
  readonly store: JobStore;
  readonly files: MediaStore;
  readonly backends: BackendJobs;
  readonly charges: Charges;
  readonly log: Logger;
  readonly now: () => Date;
  /** The most bytes of a result. */
  readonly limitBytes: number;
}

/** How long a step has its job, which is longer than all deadlines of its calls together. */
const LEASE_MS = 120_000;
/** How often a step that stores a result renews its lease. */
const RENEW_MS = 30_000;

const SUBMIT_MS = 60_000;
const STATUS_MS = 10_000;
const CONTENT_MS = 600_000;

/** How often a backend may be asked to do the work: again once, if it lost the job or may not have it. */
const SUBMITS_AT_MOST = 2;
/** How often a result is fetched. */
const FETCHES_AT_MOST = 5;
/** What is left for fetching a result that was ready just before the deadline. */
const FETCH_MS = 600_000;

const POLL = { firstMs: 2_000, lastMs: 10_000, factor: 1.3 };
const WAIT = { firstMs: 2_000, lastMs: 30_000, factor: 2 };

/** The backend has certainly not accepted the job: it may be submitted again. */
const NOT_ACCEPTED: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'MODEL_OFFLINE',
  'MODEL_AT_CAPACITY',
  'UNAVAILABLE',
]);

/**
 * The steps of jobs. Each is one attempt of one thing, starts with a claim, and may be interrupted anywhere:
 * the next one continues from what is stored.
 */
export class JobSteps {
  constructor(private readonly parts: JobStepParts) {}

  /**
   * Takes the next step of a job, unless it is not due or another process has it. Returns when the one after
   * it is due.
   */
  async step(id: string, signal: AbortSignal): Promise<Date | undefined> {
    const job = await this.parts.store.claim(id, this.lease());
    if (!job) return undefined;
    switch (job.state) {
      case 'held':
        return this.fail(job, { code: UNCHARGED, message: 'The request could not be charged.' });
      case 'queued':
        return this.submit(job, signal);
      case 'submitting':
        return this.submitAgain(job);
      case 'running':
        return this.poll(job, signal);
      case 'storing':
        return this.fetch(job, signal);
      case 'completed':
      case 'deleted':
      case 'failed':
        return this.ended(job, signal);
    }
  }

  private async submit(job: JobRecord, signal: AbortSignal): Promise<Date | undefined> {
    if (this.isLate(job) || !job.order) return this.timedOut(job);
    const { store, backends } = this.parts;
    const order = await store.whole(job.id, job.order);
    // Stored before the call, so that after a crash it is known that a backend may have the job.
    const submitting = await store.change(job, {
      state: 'submitting',
      submits: job.submits + 1,
      startedAt: job.startedAt ?? this.parts.now(),
    });
    if (!submitting) return undefined;
    try {
      const { backend, result } = await backends.submit(
        { ...originOf(job), order },
        within(SUBMIT_MS, signal),
      );
      const { job: backendJob } = result;
      const running = { state: 'running', backend, backendJob, tries: 0 } as const;
      const next = await this.change(submitting, running, POLL.firstMs);
      // Another process has ended the job at its deadline.
      if (!next) await this.cancel({ ...submitting, backend, backendJob }, signal);
      return next;
    } catch (error) {
      const problem = Problem.from(error);
      if (NOT_ACCEPTED.has(problem.code)) {
        const tries = job.tries + 1;
        return this.change(submitting, { state: 'queued', submits: job.submits, tries }, waitOf(WAIT, tries));
      }
      // The caller's fault. Every backend would reject the job.
      if (problem.status < 500) return this.fail(submitting, problem);
      this.warn(job, error, 'a job may or may not have been accepted by a backend');
      return this.submitAgain(submitting);
    }
  }

  /** A backend may have the job, or has lost it. */
  private submitAgain(job: JobRecord): Promise<Date | undefined> {
    if (job.submits >= SUBMITS_AT_MOST || this.isLate(job))
      return this.fail(job, { code: 'INFERENCE_FAILED', message: 'The backend lost the job.' });
    const again = { state: 'queued', backend: undefined, backendJob: undefined, tries: 0 } as const;
    return this.change(job, again, WAIT.lastMs);
  }

  private async poll(job: JobRecord, signal: AbortSignal): Promise<Date | undefined> {
    const isLate = this.isLate(job);
    // Cancelled first, since the state could change in between: what is ready is still delivered.
    if (isLate) await this.cancel(job, signal);
    let status: BackendJobStatus | undefined;
    try {
      status = (await this.parts.backends.status(callOf(job), within(STATUS_MS, signal))).result;
    } catch (error) {
      // A failed poll says nothing about the job.
      this.warn(job, error, 'the state of a job could not be read');
    }
    if (status?.state === 'completed') return this.begin(job);
    if (status?.state === 'failed') {
      const code = status.isRefused ? 'CONTENT_POLICY_VIOLATION' : 'INFERENCE_FAILED';
      return this.fail(job, { code, message: status.message ?? new Problem(code).message });
    }
    if (isLate) return this.timedOut(job);
    if (status?.state === 'unknown') return this.submitAgain(job);
    const tries = job.tries + 1;
    return this.change(job, { tries }, waitOf(POLL, tries));
  }

  /** Begins to fetch the result, which gets some time even right before the deadline. */
  private begin(job: JobRecord): Promise<Date | undefined> {
    const least = this.parts.now().getTime() + FETCH_MS;
    const deadlineAt = new Date(Math.max(job.deadlineAt.getTime(), least));
    return this.change(job, { state: 'storing', tries: 0, deadlineAt }, 0);
  }

  private async fetch(job: JobRecord, signal: AbortSignal): Promise<Date | undefined> {
    if (this.isLate(job)) return this.timedOut(job);
    const { files, backends, limitBytes, now } = this.parts;
    try {
      const { bytes, sha256, head } = await this.renewing(job, async (taken) => {
        const leftMs = Math.min(CONTENT_MS, job.deadlineAt.getTime() - now().getTime());
        const ended = AbortSignal.any([within(leftMs, signal), taken]);
        const { bytes: parts } = await backends.content(callOf(job), ended);
        // A stored object may be read at its URL, so anything else is not stored.
        return files.put(job.id, ofKind(flattened(parts), job.kind), limitBytes);
      });
      const mime = mediaType(head, job.kind);
      const endedAt = now();
      const completed = await this.parts.store.change(job, {
        state: 'completed',
        mime,
        bytes,
        sha256,
        endedAt,
        isOver: true,
        nextStepAt: job.expiresAt,
      });
      if (!completed) return undefined;
      mediaJobs.ended.add(1, job.kind, 'completed');
      mediaJobs.duration.record((endedAt.getTime() - job.createdAt.getTime()) / 1_000, job.kind);
      // Backends keep their files otherwise.
      await this.cancel(job, signal);
      return job.expiresAt;
    } catch (error) {
      this.warn(job, error, 'the result of a job could not be stored');
      if (this.isLate(job)) return this.timedOut(job);
      const tries = job.tries + 1;
      if (tries >= FETCHES_AT_MOST || error instanceof ObjectTooLarge)
        return this.fail(job, { code: 'INFERENCE_FAILED', message: 'The result could not be fetched.' });
      return this.change(job, { tries }, waitOf(WAIT, tries));
    }
  }

  /** Does work that may outlast a lease; its signal aborts when another process has the job. */
  private async renewing<Result>(
    job: JobRecord,
    work: (taken: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const taken = new AbortController();
    const renew = async (): Promise<void> => {
      // A failure is repeated before the lease ends.
      const isOurs = await this.parts.store.renew(job, this.lease()).catch(() => true);
      if (!isOurs) taken.abort();
    };
    // Never rejects.
    const timer = setInterval(() => void renew(), RENEW_MS).unref();
    try {
      return await work(taken.signal);
    } finally {
      clearInterval(timer);
    }
  }

  private lease(): Claim {
    const at = this.parts.now();
    return { at, until: new Date(at.getTime() + LEASE_MS) };
  }

  private async ended(job: JobRecord, signal: AbortSignal): Promise<Date | undefined> {
    const { store, files, now } = this.parts;
    if (job.refund === 'pending') return this.giveBack(job, signal);
    // Of any state: a process that stalled while it stored the object may have stored it late.
    if (job.state !== 'completed' || now() >= job.expiresAt) await files.remove(job.id);
    if (now() >= job.expiresAt) {
      await store.delete(job);
      return undefined;
    }
    return (await store.change(job, { nextStepAt: job.expiresAt })) && job.expiresAt;
  }

  /** Returns all that a failed job cost. */
  private async giveBack(job: JobRecord, signal: AbortSignal): Promise<Date | undefined> {
    // A backend still works on a job that an operator has ended.
    if (job.failureCode === ENDED_BY_OPERATOR && job.backendJob !== undefined) await this.cancel(job, signal);
    try {
      await this.parts.charges.giveBack(chargeOf(job));
    } catch (error) {
      this.warn(job, error, 'the cost of a failed job could not be returned yet');
      const tries = job.tries + 1;
      return this.change(job, { tries }, waitOf(WAIT, tries));
    }
    if (!(await this.parts.store.change(job, { refund: 'done', nextStepAt: this.parts.now() })))
      return undefined;
    mediaJobs.refunds.add(1, job.kind);
    return this.parts.now();
  }

  private timedOut(job: JobRecord): Promise<Date | undefined> {
    return this.fail(job, { code: 'REQUEST_TIMEOUT', message: 'The job was not done in time.' });
  }

  private async fail(
    job: JobRecord,
    { code, message }: { code: ProblemCode; message: string },
  ): Promise<Date | undefined> {
    const next = await this.change(
      job,
      {
        state: 'failed',
        failureCode: code,
        failureMessage: message,
        refund: 'pending',
        tries: 0,
        ...(job.state === 'held' && { idempotencyKey: undefined }),
        endedAt: this.parts.now(),
        isOver: true,
      },
      0,
    );
    if (next) mediaJobs.ended.add(1, job.kind, 'failed');
    return next;
  }

  /** Never rejects: a backend that can't be reached goes on, which costs only its time. */
  private async cancel(job: JobRecord, signal: AbortSignal): Promise<void> {
    try {
      await this.parts.backends.cancel(callOf(job), within(STATUS_MS, signal));
    } catch (error) {
      this.warn(job, error, 'a job could not be deleted at its backend');
    }
  }

  /** Changes a job, whose next step is due after a wait. `undefined` if another process has changed it. */
  private async change(job: JobRecord, change: JobChange, waitMs: number): Promise<Date | undefined> {
    const nextStepAt = new Date(this.parts.now().getTime() + waitMs);
    return (await this.parts.store.change(job, { ...change, nextStepAt })) && nextStepAt;
  }

  private isLate({ deadlineAt }: JobRecord): boolean {
    return this.parts.now() >= deadlineAt;
  }

  private warn({ id, requestId, backend }: JobRecord, error: unknown, message: string): void {
    this.parts.log.warn({ job: id, requestId, backend, error: String(error) }, message);
  }
}

function originOf({ requestId, accountId, model }: JobRecord): CallOrigin {
  return { requestId, accountId, model };
}

/** A call to the backend that has the job. */
function callOf(job: JobRecord): JobCall {
  const { backend = '', backendJob = '' } = job;
  return { ...originOf(job), backend, job: backendJob };
}

/** The charge of a job, without what it costs. */
function chargeOf({ requestId, accountId, keyId, model, createdAt }: JobRecord): Charge {
  return {
    requestId,
    accountId,
    keyId,
    model,
    backend: MEDIA_JOBS_BACKEND,
    at: createdAt.toISOString(),
    usage: NO_USAGE,
    lines: [],
    cost: NO_MONEY,
    writeOffNano: 0n,
    durationMs: 0,
  };
}

function waitOf({ firstMs, lastMs, factor }: typeof POLL, tries: number): number {
  return Math.min(lastMs, firstMs * factor ** Math.min(tries, 20));
}

function within(ms: number, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

async function* flattened(parts: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Uint8Array> {
  for await (const some of parts) yield* some;
}
