import {
  ENDED_BY_OPERATOR,
  type EarlierMediaJob,
  type MediaJob,
  type MediaJobFailure,
  type MediaJobName,
  type MediaJobRecord,
  MediaJobs,
  type MediaJobsWanted,
  type NewMediaJob,
} from '@svc/contracts/ports';
import { PROBLEMS, Problem, type ProblemCode } from '@svc/contracts/problems';
import { mediaJobs } from '@svc/telemetry';
import type { MediaStore } from './files/media-store.js';
import type { JobRecord } from './records/job-record.js';
import type { EarlierJob, JobStore } from './records/job.store.js';
import type { MediaJobsConfig } from './media-jobs.config.js';

interface MediaJobParts {
  readonly store: JobStore;
  readonly files: MediaStore;
  readonly config: MediaJobsConfig;
  readonly now: () => Date;
  /** Tells a runner in this process of a job whose next step is due. */
  readonly onDue?: ((id: string) => void) | undefined;
}

const HOUR_MS = 3_600_000;
/** The longest time for which a URL gives a result to anyone. */
const DOWNLOAD_SECONDS = 86_400;
/** How long after a request its repetition is recognized without an idempotency key. */
const REPEATED_MS = 300_000;

/** The jobs in the database, for the process that takes requests. */
export class LocalMediaJobs extends MediaJobs {
  constructor(private readonly parts: MediaJobParts) {
    super();
  }

  override async earlier(
    job: Pick<NewMediaJob, 'accountId' | 'kind' | 'bodySha256'> & { readonly idempotencyKey: string },
  ): Promise<EarlierMediaJob | undefined> {
    const earlier = await reached(this.parts.store.earlier(job, job.idempotencyKey));
    return earlier && sameRequest(earlier, job);
  }

  override async repeated(
    job: Pick<NewMediaJob, 'accountId' | 'keyId' | 'kind' | 'bodySha256'>,
  ): Promise<EarlierMediaJob | undefined> {
    return reached(this.parts.store.repeated(job, new Date(this.parts.now().getTime() - REPEATED_MS)));
  }

  override async place(job: NewMediaJob): Promise<void> {
    const { store, config } = this.parts;
    const at = this.parts.now();
    const bounds = { liveJobs: config.MEDIA_LIVE_JOBS, storedBytes: config.MEDIA_ACCOUNT_BYTES };
    const expiresAt = new Date(at.getTime() + config.MEDIA_RETENTION_HOURS * HOUR_MS);
    await reached(store.insert(job, { at, expiresAt, bounds }));
  }

  override async charged(id: string): Promise<void> {
    if (!(await reached(this.parts.store.queue(id, this.parts.now())))) throw new Problem('UNAVAILABLE');
    this.parts.onDue?.(id);
  }

  override async withdraw(id: string): Promise<void> {
    await reached(this.parts.store.withdraw(id, this.parts.now()));
  }

  override async find(name: MediaJobName): Promise<MediaJob | undefined> {
    const { store } = this.parts;
    const record = await reached(store.find(name));
    // An uncharged job has not been confirmed to anyone. One past its retention is about to be deleted.
    if (!record || record.state === 'held' || this.parts.now() >= record.expiresAt) return undefined;
    const expectedMs = (await reached(store.usualMs(record.model))) ?? record.expectedMs;
    return jobOf(record, { expectedMs, now: this.parts.now() });
  }

  override async open(id: string): Promise<AsyncIterable<Uint8Array>> {
    const content = await reached(this.parts.files.open(id));
    if (!content) throw new Problem('MEDIA_NOT_FOUND');
    return content;
  }

  override async downloadUrl(id: string): Promise<string | undefined> {
    const { store, files, now } = this.parts;
    const job = await reached(store.listed(id));
    const leftSeconds = job ? Math.floor((job.expiresAt.getTime() - now().getTime()) / 1_000) : 0;
    if (leftSeconds <= 0) return undefined;
    return reached(files.urlOf(id, Math.min(leftSeconds, DOWNLOAD_SECONDS)));
  }

  override async remove(id: string): Promise<void> {
    // The step after this deletes the object; if this process has the files, at once.
    await reached(this.parts.store.markDeleted(id, this.parts.now()));
    this.parts.onDue?.(id);
  }

  override list(wanted: MediaJobsWanted): Promise<readonly MediaJobRecord[]> {
    return reached(this.parts.store.list(wanted));
  }

  override async end(id: string): Promise<MediaJobRecord> {
    const { store, now, onDue } = this.parts;
    const ended = await reached(store.end(id, now()));
    if (ended) {
      mediaJobs.ended.add(1, ended.kind, 'ended_by_operator');
      // The steps after this cancel it at its backend and return its cost.
      onDue?.(id);
      return ended;
    }
    const job = await reached(store.listed(id));
    if (!job) throw new Problem('JOB_NOT_FOUND');
    if (job.failureCode !== ENDED_BY_OPERATOR) throw new Problem('JOB_FINISHED');
    return job;
  }
}

function sameRequest(
  { id, model, state, bodySha256 }: EarlierJob,
  job: Pick<NewMediaJob, 'bodySha256'>,
): EarlierMediaJob {
  if (bodySha256 !== job.bodySha256) throw new Problem('IDEMPOTENCY_KEY_REUSED');
  if (state === 'held') throw new Problem('REQUEST_IN_PROGRESS');
  return { id, model };
}

function jobOf(record: JobRecord, { expectedMs, now }: { expectedMs: number; now: Date }): MediaJob {
  const { id, model, state, mime = '', bytes = 0 } = record;
  const tookMs = Math.max(0, (record.endedAt ?? now).getTime() - record.createdAt.getTime());
  const seen = { id, model, expectedMs: Math.round(expectedMs), tookMs };
  if (state === 'completed') return { ...seen, state, media: { mime, bytes } };
  if (state === 'failed') return { ...seen, state, failure: failureOf(record) };
  return { ...seen, state: state === 'deleted' ? state : 'running' };
}

function failureOf({ failureCode = '', failureMessage = '', refund }: JobRecord): MediaJobFailure {
  const isKnown = Object.hasOwn(PROBLEMS, failureCode);
  return {
    code: isKnown ? (failureCode as ProblemCode) : 'INFERENCE_FAILED',
    message: failureMessage,
    isRefunded: refund === 'done',
  };
}

/** Whatever fails here but a Problem is a fault of the database or of the files. */
async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error });
  }
}

/** In a deployment without a place for media. */
export class NoMediaJobs extends MediaJobs {
  override earlier = refused;
  override repeated = refused;
  override place = refused;
  override charged = refused;
  override withdraw = refused;
  override find = refused;
  override open = refused;
  override downloadUrl = refused;
  override remove = refused;
  override list = refused;
  override end = refused;
}

function refused(): Promise<never> {
  return Promise.reject(new Problem('NOT_AVAILABLE'));
}
