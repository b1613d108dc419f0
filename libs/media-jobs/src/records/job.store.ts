import {
  ENDED_BY_OPERATOR,
  type MediaJobName,
  type MediaJobRecord,
  type MediaJobState,
  type MediaOrder,
  type MediaJobsWanted,
  type MediaKind,
  type NewMediaJob,
  UNFINISHED_JOB_STATES,
} from '@svc/contracts/ports';
import { accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { Problem, type ProblemCode } from '@svc/contracts/problems';
import { addToOutbox } from '@svc/events';
import type { Database } from '@svc/storage';
import type { JobChange, JobRecord } from './job-record.js';
import { COLUMNS, type JobRow, LISTED, type ListedRow, listedOf, recordOf } from './job-rows.js';

/** No lease outlasts a deadline: another process then ends the job if the one that has it was killed. */
const LEASE = `CASE WHEN deadline_at > $3 THEN least($2, deadline_at) ELSE $2 END`;

/** The states in which a job counts against its account's limit. */
const LIVE = `('${UNFINISHED_JOB_STATES.join("', '")}')`;

/** A job that is not charged after this time has failed. */
const UNCHARGED_MS = 120_000;

/** The failure of jobs that were not charged, and of no others. */
export const UNCHARGED = 'UNAVAILABLE' satisfies ProblemCode;

/** What the client of a job sees that an operator has ended. The reason is in the log of operator actions. */
const ENDED_MESSAGE = 'The operator of this service has ended the job.';

/** How many of the latest jobs of a model show how long they usually take. */
const RECENT_JOBS = 200;

/** The most of an account. */
interface AccountBounds {
  readonly liveJobs: number;
  readonly storedBytes: number;
}

export interface Placement {
  readonly at: Date;
  readonly expiresAt: Date;
  readonly bounds: AccountBounds;
}

/** Times of a step: when it is, and until when it has the job. */
export interface Claim {
  readonly at: Date;
  readonly until: Date;
}

/** An earlier job with the same idempotency key. */
export interface EarlierJob {
  readonly id: string;
  readonly model: string;
  readonly state: MediaJobState;
  readonly bodySha256: string;
}

/** The jobs. The time is given by the caller, so that all changes of a step have the same one. */
export class JobStore {
  constructor(private readonly database: Database) {}

  /**
   * May be repeated. Rejects: TOO_MANY_JOBS, MEDIA_STORAGE_FULL, REQUEST_IN_PROGRESS if another request has
   * the same key.
   */
  async insert(job: NewMediaJob, { at, expiresAt, bounds }: Placement): Promise<void> {
    const { picture, inputs, ...order } = job.order;
    await this.database.transaction(async (client) => {
      // Requests of the same account are counted one after the other.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`media ${job.accountId}`]);
      // A call whose response was lost is repeated.
      const own = await client.query('SELECT id FROM media.jobs WHERE id = $1', [job.id]);
      if (own.rowCount !== 0) return;
      const { rows } = await client.query<{ live: bigint; stored: string | null }>(
        `SELECT count(*) FILTER (WHERE state IN ${LIVE}) AS live, sum(bytes) FILTER (WHERE state = 'completed') AS stored
         FROM media.jobs WHERE account_id = $1`,
        [job.accountId],
      );
      const [counts] = rows;
      if (Number(counts?.live ?? 0) >= bounds.liveJobs) throw new Problem('TOO_MANY_JOBS');
      if (Number(counts?.stored ?? 0) >= bounds.storedBytes) throw new Problem('MEDIA_STORAGE_FULL');
      const inserted = await client.query(
        `INSERT INTO media.jobs (id, request_id, account_id, key_id, kind, model, state, "order", picture, body_sha256,
           idempotency_key, expected_ms, created_at, deadline_at, expires_at, next_step_at, callback_url, inputs)
         VALUES ($1, $2, $3, $4, $5, $6, 'held', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         ON CONFLICT (account_id, kind, idempotency_key) DO NOTHING`,
        [
          job.id,
          job.requestId,
          job.accountId,
          job.keyId,
          job.kind,
          job.model,
          JSON.stringify({
            ...order,
            ...(picture && { picture: { ...picture, base64: '' } }),
            ...(inputs && { inputs: inputs.map((input) => ({ ...input, base64: '' })) }),
          }),
          picture ? bytesOf(picture) : null,
          job.bodySha256,
          job.idempotencyKey ?? null,
          job.expectedMs,
          at,
          new Date(at.getTime() + job.deadlineMs),
          expiresAt,
          new Date(at.getTime() + UNCHARGED_MS),
          job.callbackUrl ?? null,
          inputs?.map(bytesOf) ?? null,
        ],
      );
      if (inserted.rowCount === 0) throw new Problem('REQUEST_IN_PROGRESS');
    });
  }

  async earlier(
    { accountId, kind }: Pick<NewMediaJob, 'accountId' | 'kind'>,
    idempotencyKey: string,
  ): Promise<EarlierJob | undefined> {
    const [row] = await this.database.query<{
      id: string;
      model: string;
      state: MediaJobState;
      body_sha256: string;
    }>(
      `SELECT id, model, state, body_sha256 FROM media.jobs
       WHERE account_id = $1 AND kind = $2 AND idempotency_key = $3`,
      [accountId, kind, idempotencyKey],
    );
    return row && { id: row.id, model: row.model, state: row.state, bodySha256: row.body_sha256 };
  }

  /** The latest charged job with the same request since a time. */
  async repeated(
    { accountId, keyId, kind, bodySha256 }: Pick<NewMediaJob, 'accountId' | 'keyId' | 'kind' | 'bodySha256'>,
    since: Date,
  ): Promise<Pick<EarlierJob, 'id' | 'model'> | undefined> {
    const [row] = await this.database.query<{ id: string; model: string }>(
      `SELECT id, model FROM media.jobs WHERE account_id = $1 AND key_id = $2 AND kind = $3 AND body_sha256 = $4
         AND created_at >= $5 AND state <> 'held' AND failure_code IS DISTINCT FROM '${UNCHARGED}'
       ORDER BY created_at DESC LIMIT 1`,
      [accountId, keyId, kind, bodySha256, since],
    );
    return row;
  }

  /** Whether the job is queued, now or by an earlier call. */
  async queue(id: string, at: Date): Promise<boolean> {
    const queued = await this.database.query(
      `UPDATE media.jobs SET state = 'queued', version = version + 1, next_step_at = $2, lease_until = NULL
       WHERE id = $1 AND state = 'held' RETURNING id`,
      [id, at],
    );
    if (queued.length > 0) return true;
    const rows = await this.database.query(
      `SELECT id FROM media.jobs WHERE id = $1 AND state <> 'held' AND failure_code IS DISTINCT FROM '${UNCHARGED}'`,
      [id],
    );
    return rows.length > 0;
  }

  /** Makes a held job due at once, so that it fails. Its key may be used again. */
  async withdraw(id: string, at: Date): Promise<void> {
    await this.database.query(
      `UPDATE media.jobs SET idempotency_key = NULL, version = version + 1, next_step_at = $2
       WHERE id = $1 AND state = 'held'`,
      [id, at],
    );
  }

  async find({ id, accountId, kind, model }: MediaJobName): Promise<JobRecord | undefined> {
    const rows = await this.database.query<JobRow>(
      `SELECT ${COLUMNS} FROM media.jobs WHERE id = $1 AND account_id = $2 AND kind = $3 AND model = $4`,
      [id, accountId, kind, model],
    );
    return rows[0] && recordOf(rows[0]);
  }

  /** Marks the media of a completed job as deleted. Its object is still there. */
  async markDeleted(id: string, at: Date): Promise<void> {
    await this.database.query(
      `UPDATE media.jobs SET state = 'deleted', version = version + 1, next_step_at = $2
       WHERE id = $1 AND state = 'completed'`,
      [id, at],
    );
  }

  /** At most `limit`, newest first. */
  async list(wanted: MediaJobsWanted): Promise<MediaJobRecord[]> {
    const { accountId, kind, model, states, from, until, before, limit } = wanted;
    const rows = await this.database.query<ListedRow>(
      `SELECT ${LISTED} FROM media.jobs
       WHERE ($1::uuid IS NULL OR account_id = $1) AND ($2::text IS NULL OR kind = $2)
         AND ($3::text IS NULL OR model = $3) AND ($4::text[] IS NULL OR state = ANY ($4))
         AND ($5::timestamptz IS NULL OR created_at >= $5) AND ($6::timestamptz IS NULL OR created_at < $6)
         AND ($7::timestamptz IS NULL OR (created_at, id) < ($7, $8::uuid))
       ORDER BY created_at DESC, id DESC LIMIT $9`,
      [accountId, kind, model, states, from, until, before?.createdAt, before?.id, limit],
    );
    return rows.map(listedOf);
  }

  /** Ends a job under way, as failed. `undefined` if this one is not under way. */
  async end(id: string, at: Date): Promise<MediaJobRecord | undefined> {
    const row = await this.ended<ListedRow>(
      `UPDATE media.jobs SET state = 'failed', failure_code = '${ENDED_BY_OPERATOR}', failure_message = $3,
         refund = 'pending', tries = 0, "order" = NULL, picture = NULL, inputs = NULL, version = version + 1, ended_at = $2,
         next_step_at = $2, lease_until = NULL
       WHERE id = $1 AND state IN ${LIVE} RETURNING ${LISTED}`,
      [id, at, ENDED_MESSAGE],
    );
    return row && listedOf(row);
  }

  async listed(id: string): Promise<MediaJobRecord | undefined> {
    const [row] = await this.database.query<ListedRow>(`SELECT ${LISTED} FROM media.jobs WHERE id = $1`, [
      id,
    ]);
    return row && listedOf(row);
  }

  /** How long four of five of the latest jobs of a model took at most; `undefined` before the first. */
  async usualMs(model: string): Promise<number | undefined> {
    const [row] = await this.database.query<{ ms: number | null }>(
      `SELECT percentile_cont(0.8) WITHIN GROUP (ORDER BY ms) AS ms FROM (
         SELECT extract(epoch FROM ended_at - created_at)::float8 * 1000 AS ms FROM media.jobs
         WHERE model = $1 AND ended_at IS NOT NULL AND state IN ('completed', 'deleted')
         ORDER BY ended_at DESC LIMIT ${RECENT_JOBS}
       ) AS recent`,
      [model],
    );
    return row?.ms ?? undefined;
  }

  /** The jobs whose next step is due and that no process has, the longest waiting first. */
  async due(at: Date, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM media.jobs WHERE next_step_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
       ORDER BY next_step_at LIMIT $2`,
      [at, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Takes a job whose next step is due, unless another process has it. */
  async claim(id: string, { at, until }: Claim): Promise<JobRecord | undefined> {
    const rows = await this.database.query<JobRow>(
      `UPDATE media.jobs SET version = version + 1, lease_until = ${LEASE}
       WHERE id = $1 AND next_step_at <= $3 AND (lease_until IS NULL OR lease_until <= $3) RETURNING ${COLUMNS}`,
      [id, until, at],
    );
    return rows[0] && recordOf(rows[0]);
  }

  /** Keeps a job for a step that goes on. Whether no other process has it. */
  async renew({ id, version }: JobRecord, { at, until }: Claim): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE media.jobs SET lease_until = ${LEASE} WHERE id = $1 AND version = $4 RETURNING id`,
      [id, until, at, version],
    );
    return rows.length > 0;
  }

  /** The order of a job with the bytes of its files. */
  async whole(id: string, order: MediaOrder): Promise<MediaOrder> {
    const { picture, inputs } = order;
    if (!picture && !inputs) return order;
    const [row] = await this.database.query<{ picture: Buffer | null; inputs: readonly Buffer[] | null }>(
      'SELECT picture, inputs FROM media.jobs WHERE id = $1',
      [id],
    );
    const base64 = (bytes: Buffer | null | undefined): string => bytes?.toString('base64') ?? '';
    return {
      ...order,
      ...(picture && { picture: { ...picture, base64: base64(row?.picture) } }),
      ...(inputs && { inputs: inputs.map((input, at) => ({ ...input, base64: base64(row?.inputs?.[at]) })) }),
    };
  }

  /** Changes a job unless it has changed since it was read; then `undefined`. */
  async change({ id, version }: JobRecord, change: JobChange): Promise<JobRecord | undefined> {
    const values: unknown[] = [id, version];
    const sets = ['version = version + 1'];
    const { isOver, nextStepAt, ...members } = change;
    for (const [member, value] of Object.entries(members)) {
      values.push(value ?? null);
      sets.push(`${CHANGED[member as keyof typeof CHANGED]} = $${values.length}`);
    }
    if (nextStepAt) {
      values.push(nextStepAt);
      sets.push(`next_step_at = $${values.length}`, 'lease_until = NULL');
    }
    if (isOver) sets.push('"order" = NULL', 'picture = NULL', 'inputs = NULL');
    const sql = `UPDATE media.jobs SET ${sets.join(', ')} WHERE id = $1 AND version = $2 RETURNING ${COLUMNS}`;
    const isEnd = change.state === 'completed' || change.state === 'failed';
    const row = isEnd
      ? await this.ended<JobRow>(sql, values)
      : (await this.database.query<JobRow>(sql, values))[0];
    return row && recordOf(row);
  }

  /** Ends a job with its event. Nobody waits for a job that was not charged. */
  private ended<Row extends ListedRow>(sql: string, values: readonly unknown[]): Promise<Row | undefined> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<Row>(sql, [...values]);
      const [row] = rows;
      if (!row || row.failure_code === UNCHARGED) return row;
      const { id, model, failure_code: code, kind } = row;
      const data = { id, model, ...(code !== null && { code }) };
      const type = code === null ? (`${kind}.completed` as const) : (`${kind}.failed` as const);
      const events = [newAccountEvent(row.account_id, type, data)];
      // It has an id of its own, since its endpoint may also want the type.
      if (row.callback_url !== null)
        events.push({ ...newAccountEvent(row.account_id, type, data), callbackUrl: row.callback_url });
      for (const event of events)
        await addToOutbox((text, given) => client.query(text, [...given]), accountEvent, event);
      return row;
    });
  }

  /** Forgets a job, unless it has changed since it was read. */
  async delete({ id, version }: JobRecord): Promise<void> {
    await this.database.query('DELETE FROM media.jobs WHERE id = $1 AND version = $2', [id, version]);
  }

  /** The unfinished jobs by kind and state. */
  async unfinished(at: Date): Promise<UnfinishedJobs[]> {
    const rows = await this.database.query<{
      kind: MediaKind;
      state: UnfinishedState;
      jobs: bigint;
      age: number;
      overdue: number;
    }>(
      `SELECT kind, CASE WHEN refund = 'pending' THEN 'refunding' ELSE state END AS state, count(*) AS jobs,
         extract(epoch FROM $1::timestamptz - min(created_at))::float8 AS age,
         extract(epoch FROM $1::timestamptz - min(deadline_at))::float8 AS overdue
       FROM media.jobs WHERE state IN ${LIVE} OR refund = 'pending' GROUP BY 1, 2`,
      [at],
    );
    return rows.map(({ kind, state, jobs, age, overdue }) => ({
      kind,
      state,
      count: Number(jobs),
      ageSeconds: Math.max(0, age),
      overdueSeconds: Math.max(0, overdue),
    }));
  }
}

/** `refunding`: the job has failed, and its cost is not returned yet. */
export type UnfinishedState = Exclude<MediaJobState, 'completed' | 'failed' | 'deleted'> | 'refunding';

export interface UnfinishedJobs {
  readonly kind: MediaKind;
  readonly state: UnfinishedState;
  readonly count: number;
  /** The age of the oldest one. */
  readonly ageSeconds: number;
  /** How long one of them is past its deadline. */
  readonly overdueSeconds: number;
}

const CHANGED = {
  state: 'state',
  submits: 'submits',
  tries: 'tries',
  backend: 'backend',
  backendJob: 'backend_job',
  failureCode: 'failure_code',
  failureMessage: 'failure_message',
  refund: 'refund',
  mime: 'mime',
  bytes: 'bytes',
  sha256: 'sha256',
  idempotencyKey: 'idempotency_key',
  startedAt: 'started_at',
  endedAt: 'ended_at',
  deadlineAt: 'deadline_at',
} as const satisfies Record<keyof Omit<JobChange, 'isOver' | 'nextStepAt'>, string>;

const bytesOf = ({ base64 }: { readonly base64: string }): Buffer => Buffer.from(base64, 'base64');
