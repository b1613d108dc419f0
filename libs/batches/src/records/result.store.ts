import { Injectable } from '@nestjs/common';
import type { RequestLease } from '@svc/paid/repeats';
import { Database } from '@svc/storage';
import type { LineSpending, LineUsage } from './batch-record.js';

/** The result of a line, as it will be in a file. */
export interface LineResult {
  readonly line: number;
  readonly customId: string | undefined;
  readonly isFailed: boolean;
  readonly content: string;
  /** Undefined if it was not charged. */
  readonly spending: LineSpending | undefined;
}

interface DoneRow {
  readonly line: number;
  readonly custom_id: string | null;
  readonly is_failed: boolean;
  readonly cost_nano: bigint;
  readonly usage: LineUsage | null;
}

/** The most results that are read at once, and their characters, unless one alone has more. */
const PAGE_RESULTS = 200;
const PAGE_CHARACTERS = 2_097_152;

/** The results of batches under way. */
@Injectable()
export class ResultStore {
  constructor(private readonly database: Database) {}

  /**
   * Durable once this resolves. The first result of a line counts; returns whether that is a failure.
   * Undefined if the batch has ended, or another process has the line by now. A success ends the request of
   * its line, so that its charge is not given back.
   */
  async insert(
    batchId: string,
    { line, customId, isFailed, content, spending }: LineResult,
    lease?: RequestLease,
  ): Promise<{ readonly isFailed: boolean } | undefined> {
    const [row] = await this.database.query<{ is_failed: boolean }>(
      `WITH claim AS (
         SELECT FROM gateway.repeated_requests WHERE account_id = $8 AND key = $9 AND version = $10 FOR UPDATE
       ), stored AS (
         INSERT INTO gateway.batch_results AS known (batch_id, line, custom_id, is_failed, content, cost_nano, usage)
         SELECT $1, $2, $3, $4, $5, $6, $7
         WHERE EXISTS (SELECT FROM gateway.batches WHERE id = $1 AND ended_at IS NULL)
           AND ($9::text IS NULL OR EXISTS (SELECT FROM claim))
         ON CONFLICT (batch_id, line) DO UPDATE SET line = known.line RETURNING is_failed
       ), made AS (
         UPDATE gateway.repeated_requests SET is_made = true FROM stored
         WHERE account_id = $8 AND key = $9 AND version = $10 AND NOT stored.is_failed
       )
       SELECT is_failed FROM stored`,
      [
        batchId,
        line,
        customId ?? null,
        isFailed,
        content,
        spending?.costNano ?? 0n,
        spending ? JSON.stringify(spending.usage) : null,
        lease?.accountId ?? null,
        lease?.key ?? null,
        lease?.version ?? null,
      ],
    );
    return row && { isFailed: row.is_failed };
  }

  /** Which lines have their results. */
  async done(batchId: string): Promise<readonly Omit<LineResult, 'content'>[]> {
    const rows = await this.database.query<DoneRow>(
      'SELECT line, custom_id, is_failed, cost_nano, usage FROM gateway.batch_results WHERE batch_id = $1',
      [batchId],
    );
    return rows.map((row) => ({
      line: row.line,
      customId: row.custom_id ?? undefined,
      isFailed: row.is_failed,
      spending: row.usage ? { costNano: row.cost_nano, usage: row.usage } : undefined,
    }));
  }

  /** The results, or those that have failed or not, in the order of their lines. One page is in memory. */
  async *contents(batchId: string, isFailed?: boolean): AsyncGenerator<string> {
    for (let after = 0; ;) {
      const rows = await this.database.query<{ line: number; content: string }>(
        `SELECT line, content FROM (
           SELECT line, content, sum(octet_length(content)) OVER (ORDER BY line) - octet_length(content) AS before
           FROM (
             SELECT line, content FROM gateway.batch_results
             WHERE batch_id = $1 AND ($2::boolean IS NULL OR is_failed = $2) AND line > $3 ORDER BY line LIMIT $4
           ) AS next
         ) AS page WHERE before < $5 ORDER BY line`,
        [batchId, isFailed ?? null, after, PAGE_RESULTS, PAGE_CHARACTERS],
      );
      for (const { content } of rows) yield content;
      const last = rows.at(-1);
      if (!last) return;
      after = last.line;
    }
  }
}
