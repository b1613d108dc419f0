import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { Database } from '@svc/storage';

/** The last two are of message batches, and not among the files that clients see. */
type FilePurpose = 'batch' | 'batch_output' | 'message_batch' | 'message_results';
type ShownPurpose = 'batch' | 'batch_output';

/** A file, as its account sees it. */
export interface FileRecord {
  readonly id: string;
  readonly accountId: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly lines: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface FileRow {
  readonly id: string;
  readonly account_id: string;
  readonly purpose: FilePurpose;
  readonly filename: string;
  readonly bytes: bigint;
  readonly blocks: number;
  readonly lines: number;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** A file whose blocks are to be deleted. */
export interface OldFile {
  readonly id: string;
  /** Undefined if it was not uploaded to its end. */
  readonly blocks: number | undefined;
}

export interface FilesWanted {
  readonly purpose?: ShownPurpose | undefined;
  readonly after?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

const COLUMNS = 'id, account_id, purpose, filename, bytes, blocks, lines, created_at, expires_at';

const SHOWN: readonly FilePurpose[] = ['batch', 'batch_output'];

/** An upload that has not ended by then has failed. */
const UPLOAD_SECONDS = 7_200;

/** Locks the making of batches of an account. */
const BATCHES_OF_ACCOUNT = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Whether a batch under way reads the file. */
const IN_USE = `EXISTS (
  SELECT FROM gateway.batches AS batch WHERE batch.input_file_id = file.id AND batch.ended_at IS NULL
)`;

@Injectable()
export class FileStore {
  constructor(private readonly database: Database) {}

  /** Rejects with FILE_STORAGE_FULL if the account's files have more bytes than that. */
  async begin(file: Pick<FileRecord, 'id' | 'accountId' | 'purpose'>, accountBytes: number): Promise<void> {
    const rows = await this.database.query(
      `INSERT INTO gateway.files (id, account_id, purpose, filename, state, created_at, expires_at)
       SELECT $1, $2, $3, '', 'uploading', now(), now() + $4 * interval '1 second'
       WHERE (SELECT coalesce(sum(bytes), 0) FROM gateway.files WHERE account_id = $2) < $5
       RETURNING 1`,
      [file.id, file.accountId, file.purpose, UPLOAD_SECONDS, accountBytes],
    );
    if (rows.length === 0) throw new Problem('FILE_STORAGE_FULL');
  }

  /** The upload has ended, unless it took so long that it has failed. */
  async stored(
    file: Pick<FileRecord, 'id' | 'filename' | 'bytes' | 'blocks' | 'lines'>,
    keptSeconds: number,
  ): Promise<FileRecord | undefined> {
    const [row] = await this.database.query<FileRow>(
      `UPDATE gateway.files SET state = 'stored', filename = $2, bytes = $3, blocks = $4, lines = $5,
         expires_at = created_at + $6 * interval '1 second'
       WHERE id = $1 AND state = 'uploading' RETURNING ${COLUMNS}`,
      [file.id, file.filename, file.bytes, file.blocks, file.lines, keptSeconds],
    );
    return row && recordOf(row);
  }

  /** The upload has failed: what it has left is deleted. */
  async abandon(id: string): Promise<void> {
    await this.database.query(
      `UPDATE gateway.files SET expires_at = now() WHERE id = $1 AND state = 'uploading'`,
      [id],
    );
  }

  async find(accountId: string, id: string, purposes = SHOWN): Promise<FileRecord | undefined> {
    const [row] = await this.database.query<FileRow>(
      `SELECT ${COLUMNS} FROM gateway.files AS file
       WHERE id = $1 AND account_id = $2 AND state = 'stored' AND purpose = ANY($3) AND (expires_at > now() OR ${IN_USE})`,
      [id, accountId, purposes],
    );
    return row && recordOf(row);
  }

  /** One more than wanted, if there are more. */
  async list(accountId: string, { purpose, after, order, limit }: FilesWanted): Promise<FileRecord[]> {
    const isBehind = order === 'asc' ? '>' : '<';
    const rows = await this.database.query<FileRow>(
      `SELECT ${COLUMNS} FROM gateway.files AS file
       WHERE account_id = $1 AND state = 'stored' AND expires_at > now() AND purpose = ANY($2)
         AND ($3::text IS NULL OR (created_at, id) ${isBehind} (
           SELECT created_at, id FROM gateway.files WHERE id = $3 AND account_id = $1
         ))
       ORDER BY created_at ${order}, id ${order} LIMIT $4`,
      [accountId, purpose ? [purpose] : SHOWN, after ?? null, limit + 1],
    );
    return rows.map(recordOf);
  }

  /** Its blocks are deleted later. Rejects: FILE_NOT_FOUND, FILE_IN_USE. */
  async markDeleted(accountId: string, id: string): Promise<void> {
    const isDeleted = await this.database.transaction(async (client) => {
      // A batch that reads it may be made at the same time.
      await client.query(BATCHES_OF_ACCOUNT, [`batch ${accountId}`]);
      const { rowCount } = await client.query(
        `UPDATE gateway.files AS file SET state = 'deleted', expires_at = now()
         WHERE id = $1 AND account_id = $2 AND state = 'stored' AND NOT ${IN_USE}`,
        [id, accountId],
      );
      return rowCount === 1;
    });
    if (isDeleted) return;
    throw new Problem((await this.find(accountId, id)) ? 'FILE_IN_USE' : 'FILE_NOT_FOUND');
  }

  /** Files that have been kept long enough, and those that are deleted or were not uploaded to their end. */
  async old(limit: number): Promise<OldFile[]> {
    const rows = await this.database.query<{ id: string; state: string; blocks: number }>(
      `UPDATE gateway.files SET state = CASE state WHEN 'stored' THEN 'deleted' ELSE state END
       WHERE id IN (
         SELECT id FROM gateway.files AS file WHERE expires_at <= now() AND NOT ${IN_USE} LIMIT $1
         FOR UPDATE SKIP LOCKED
       ) RETURNING id, state, blocks`,
      [limit],
    );
    return rows.map(({ id, state, blocks }) => ({ id, blocks: state === 'uploading' ? undefined : blocks }));
  }

  /** Forgets a file whose blocks are gone. */
  async forget(id: string): Promise<void> {
    await this.database.query(
      `DELETE FROM gateway.files WHERE id = $1 AND state IN ('deleted', 'uploading')`,
      [id],
    );
  }
}

const recordOf = (row: FileRow): FileRecord => ({
  id: row.id,
  accountId: row.account_id,
  purpose: row.purpose,
  filename: row.filename,
  bytes: Number(row.bytes),
  blocks: row.blocks,
  lines: row.lines,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});
