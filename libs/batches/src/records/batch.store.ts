import { Injectable } from '@nestjs/common';
import { accountEvent, newAccountEvent } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { addToOutbox } from '@svc/events';
import { Database } from '@svc/storage';
import {
  type BatchProgress,
  type BatchRecord,
  type BatchRow,
  COLUMNS,
  type LeasedBatch,
  recordOf,
} from './batch-record.js';

export type NewBatch = Pick<
  BatchRecord,
  | 'id'
  | 'accountId'
  | 'keyId'
  | 'form'
  | 'endpoint'
  | 'inputFileId'
  | 'outputFileId'
  | 'errorFileId'
  | 'lines'
  | 'metadata'
  | 'outputSeconds'
  | 'maxCostNano'
>;

/** A file that a batch has written. */
export interface ResultFile {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly lines: number;
}

/** How a batch ends, and how far it came. */
export interface BatchEnding extends BatchProgress {
  readonly state: 'completed' | 'expired' | 'cancelled';
  readonly files: readonly ResultFile[];
  readonly purpose: 'batch_output' | 'message_results';
  readonly keptSeconds: number;
}

export interface LeaseTerms {
  /** The most batches of an account that run at once, over all processes. */
  readonly runsPerAccount: number;
  /** Whether the process has room only for batches that need to be ended. */
  readonly isOnlyCancelled: boolean;
}

export interface BatchesWanted {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** What the process that works on a batch sees of it. */
export interface Renewal {
  readonly isCancelled: boolean;
  readonly isExpired: boolean;
}

const WINDOW_SECONDS = 86_400;

/** A batch is kept a little longer than its files, so that it shows where they were. */
const KEPT_DAYS = 90;

type Lease = Pick<LeasedBatch, 'id' | 'version'>;

/** Batches. All times are those of the database. */
@Injectable()
export class BatchStore {
  constructor(private readonly database: Database) {}

  /** Rejects: TOO_MANY_LINES if the account has more unfinished ones than that; FILE_NOT_FOUND. */
  async insert(batch: NewBatch, accountLines: number): Promise<BatchRecord> {
    return this.database.transaction(async (client) => {
      // Requests of the same account are counted one after the other.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `batch ${batch.accountId}`,
      ]);
      const { rows: counts } = await client.query<{ open: bigint | null }>(
        `SELECT sum(lines - completed - failed) AS open FROM gateway.batches
         WHERE account_id = $1 AND ended_at IS NULL`,
        [batch.accountId],
      );
      if (Number(counts[0]?.open ?? 0) + batch.lines > accountLines) throw new Problem('TOO_MANY_LINES');
      // It cannot be deleted from now on.
      const file = await client.query(
        `SELECT FROM gateway.files WHERE id = $1 AND state = 'stored' FOR SHARE`,
        [batch.inputFileId],
      );
      if (file.rowCount === 0) throw new Problem('FILE_NOT_FOUND', { param: 'input_file_id' });
      const { rows } = await client.query<BatchRow>(
        `INSERT INTO gateway.batches AS batch (id, account_id, key_id, form, endpoint, input_file_id, output_file_id,
           error_file_id, state, lines, metadata, output_seconds, created_at, expires_at, max_cost_nano)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'validating', $9, $10, $11, now(), now() + $12 * interval '1 second', $13)
         RETURNING ${COLUMNS}`,
        [
          batch.id,
          batch.accountId,
          batch.keyId,
          batch.form,
          batch.endpoint,
          batch.inputFileId,
          batch.outputFileId,
          batch.errorFileId,
          batch.lines,
          batch.metadata && JSON.stringify(batch.metadata),
          batch.outputSeconds,
          WINDOW_SECONDS,
          batch.maxCostNano,
        ],
      );
      const [row] = rows;
      if (!row) throw new Error('a batch was not inserted');
      return recordOf(row);
    });
  }

  async find(name: Pick<BatchRecord, 'accountId' | 'id' | 'form'>): Promise<BatchRecord | undefined> {
    const [row] = await this.database.query<BatchRow>(
      `SELECT ${COLUMNS} FROM gateway.batches AS batch WHERE id = $1 AND account_id = $2 AND form = $3`,
      [name.id, name.accountId, name.form],
    );
    return row && recordOf(row);
  }

  /** Newest first, or oldest first before a batch; one more than wanted, if there are more. */
  async list(
    { accountId, form }: Pick<BatchRecord, 'accountId' | 'form'>,
    { after, before, limit }: BatchesWanted,
  ): Promise<BatchRecord[]> {
    const [isBehind, order] = before === undefined ? ['<', 'DESC'] : ['>', 'ASC'];
    const rows = await this.database.query<BatchRow>(
      `SELECT ${COLUMNS} FROM gateway.batches AS batch
       WHERE account_id = $1 AND form = $2 AND ($3::text IS NULL OR (created_at, id) ${isBehind} (
         SELECT created_at, id FROM gateway.batches WHERE id = $3 AND account_id = $1
       ))
       ORDER BY created_at ${order}, id ${order} LIMIT $4`,
      [accountId, form, before ?? after ?? null, limit + 1],
    );
    return rows.map(recordOf);
  }

  /** Deletes a batch that has ended, and its results. Rejects: BATCH_NOT_FOUND, BATCH_UNFINISHED. */
  async remove(name: Pick<BatchRecord, 'accountId' | 'id' | 'form'>): Promise<void> {
    const [row] = await this.database.query(
      `WITH removed AS (
         DELETE FROM gateway.batches WHERE id = $1 AND account_id = $2 AND form = $3 AND ended_at IS NOT NULL
         RETURNING output_file_id
       ), results AS (
         UPDATE gateway.files SET state = 'deleted', expires_at = now()
         WHERE id IN (SELECT output_file_id FROM removed) AND state = 'stored'
       )
       SELECT FROM removed`,
      [name.id, name.accountId, name.form],
    );
    if (!row) throw new Problem((await this.find(name)) ? 'BATCH_UNFINISHED' : 'BATCH_NOT_FOUND');
  }

  /** May be repeated. Rejects: BATCH_NOT_FOUND, BATCH_FINISHED. */
  async cancel(name: Pick<BatchRecord, 'accountId' | 'id' | 'form'>): Promise<BatchRecord> {
    const [row] = await this.database.query<BatchRow>(
      `UPDATE gateway.batches AS batch SET state = 'cancelling', cancelling_at = coalesce(cancelling_at, now())
       WHERE id = $1 AND account_id = $2 AND form = $3 AND state IN ('validating', 'in_progress', 'cancelling')
       RETURNING ${COLUMNS}`,
      [name.id, name.accountId, name.form],
    );
    if (row) return recordOf(row);
    const known = await this.find(name);
    if (!known) throw new Problem('BATCH_NOT_FOUND');
    if (known.state === 'cancelled') return known;
    throw new Problem('BATCH_FINISHED');
  }

  /**
   * Takes the oldest batch that no process works on, of an account with few others. Cancelled ones need only
   * be ended, and come first.
   */
  async lease(
    leaseMs: number,
    { runsPerAccount, isOnlyCancelled }: LeaseTerms,
  ): Promise<LeasedBatch | undefined> {
    const [row] = await this.database.query<BatchRow & { version: number; blocks: number }>(
      `WITH due AS (
         SELECT id FROM gateway.batches AS batch
         WHERE ended_at IS NULL AND (lease_until IS NULL OR lease_until < now()) AND (state = 'cancelling' OR NOT $3 AND (
           SELECT count(*) FROM gateway.batches AS other
           WHERE other.account_id = batch.account_id AND other.ended_at IS NULL AND other.lease_until > now()
         ) < $2)
         ORDER BY state <> 'cancelling', created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
       )
       UPDATE gateway.batches AS batch SET version = batch.version + 1,
         lease_until = now() + $1 * interval '1 millisecond', started_at = coalesce(batch.started_at, now()),
         state = CASE batch.state WHEN 'validating' THEN 'in_progress' ELSE batch.state END
       FROM due JOIN gateway.batches USING (id) LEFT JOIN gateway.files AS file ON file.id = batches.input_file_id
       WHERE batch.id = due.id
       RETURNING ${COLUMNS}, batch.version, coalesce(file.blocks, 0) AS blocks`,
      [leaseMs, runsPerAccount, isOnlyCancelled],
    );
    return row && { ...recordOf(row), version: row.version, blocks: row.blocks };
  }

  /** Undefined if another process has taken the batch over. */
  async renew(
    { id, version }: Lease,
    leaseMs: number,
    progress: BatchProgress,
  ): Promise<Renewal | undefined> {
    const [row] = await this.database.query<{ state: string; is_expired: boolean }>(
      `UPDATE gateway.batches SET lease_until = now() + $3 * interval '1 millisecond', completed = $4, failed = $5,
         cost_nano = $6, usage = $7
       WHERE id = $1 AND version = $2 AND ended_at IS NULL RETURNING state, expires_at <= now() AS is_expired`,
      [id, version, leaseMs, ...valuesOf(progress)],
    );
    return row && { isCancelled: row.state === 'cancelling', isExpired: row.is_expired };
  }

  /** Another process may go on at once. */
  async giveBack({ id, version }: Lease): Promise<void> {
    await this.database.query(
      `UPDATE gateway.batches SET lease_until = NULL WHERE id = $1 AND version = $2 AND ended_at IS NULL`,
      [id, version],
    );
  }

  /** All lines have their results, which become files. */
  async finalize({ id, version }: Lease): Promise<void> {
    await this.database.query(
      `UPDATE gateway.batches SET finalizing_at = coalesce(finalizing_at, now()),
         state = CASE state WHEN 'in_progress' THEN 'finalizing' ELSE state END
       WHERE id = $1 AND version = $2 AND ended_at IS NULL`,
      [id, version],
    );
  }

  /** Returns false if another process has taken the batch over. */
  async end({ id, version, accountId, inputFileId }: LeasedBatch, ending: BatchEnding): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const ended = await client.query(
        `UPDATE gateway.batches SET state = $3, completed = $4, failed = $5, cost_nano = $6, usage = $7,
           ended_at = now(), lease_until = NULL
         WHERE id = $1 AND version = $2 AND ended_at IS NULL RETURNING 1`,
        [id, version, ending.state, ...valuesOf(ending)],
      );
      if (ended.rowCount === 0) return false;
      for (const file of ending.files)
        await client.query(
          `INSERT INTO gateway.files (id, account_id, purpose, filename, state, bytes, blocks, lines, created_at, expires_at)
           VALUES ($1, $2, $8, $3, 'stored', $4, $5, $6, now(), now() + $7 * interval '1 second')`,
          [
            file.id,
            accountId,
            file.filename,
            file.bytes,
            file.blocks,
            file.lines,
            ending.keptSeconds,
            ending.purpose,
          ],
        );
      // Nobody can read it any more.
      await client.query(
        `UPDATE gateway.files SET state = 'deleted', expires_at = now() WHERE id = $1 AND purpose = 'message_batch'`,
        [inputFileId],
      );
      await client.query('DELETE FROM gateway.batch_results WHERE batch_id = $1', [id]);
      const { state, completed, failed } = ending;
      const event = newAccountEvent(accountId, `batch.${state}`, { id, completed, failed });
      await addToOutbox((text, given) => client.query(text, [...given]), accountEvent, event);
      return true;
    });
  }

  /** Deletes batches that ended long ago. */
  async deleteOld(limit: number): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.batches WHERE id IN (
         SELECT id FROM gateway.batches WHERE ended_at < now() - $1 * interval '1 day' LIMIT $2
         FOR UPDATE SKIP LOCKED
       )`,
      [KEPT_DAYS, limit],
    );
  }
}

const valuesOf = ({ completed, failed, costNano, usage }: BatchProgress): unknown[] => [
  completed,
  failed,
  costNano,
  JSON.stringify(usage),
];
