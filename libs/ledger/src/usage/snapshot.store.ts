import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { within } from '@svc/runtime';
import { Database } from '@svc/storage';
import { DatabaseError, type PoolClient } from 'pg';
import { KEEP_MONTHS } from '../accounts/months.store.js';

/** Parallel reads, limited so that exports leave connections and processors to postings. */
const READS_AT_ONCE = 2;
/** Maximum length of the queue of reads; beyond it they are rejected. */
const READS_WAITING = 100;
const STATEMENT_MS = 4_000;
/** Deadline of a read, including the wait in the queue. */
const READ_MS = 8_000;

/** One snapshot for all statements. JIT is off: compiling the plans would take longer than running them. */
const BEGIN_READING = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL statement_timeout = ${STATEMENT_MS};
${KEEP_MONTHS};
SET LOCAL jit = off`;

const CANCELED = '57014';
/** Classes of transient PostgreSQL errors: lost connections, too few resources, a stopping server. */
const PASSING = /^(08|53|57)/;

/** Runs large reads without slowing down postings. */
@Injectable()
export class SnapshotStore {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly database: Database) {}

  /**
   * Runs reads on one snapshot. Rejects: UNAVAILABLE if there are too many reads or no database;
   * REQUEST_TIMEOUT if a statement takes too long.
   */
  read<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    if (this.waiting.length >= READS_WAITING) return Promise.reject(new Problem('UNAVAILABLE'));
    const untilMs = performance.now() + READ_MS;
    return within(READ_MS, this.inTurn(work, untilMs), () => new Problem('UNAVAILABLE'));
  }

  private async inTurn<Result>(
    work: (client: PoolClient) => Promise<Result>,
    untilMs: number,
  ): Promise<Result> {
    if (this.running < READS_AT_ONCE) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      // The caller's deadline has already passed.
      if (performance.now() >= untilMs) throw new Problem('UNAVAILABLE');
      return await this.database.transaction(async (client) => {
        await client.query(BEGIN_READING);
        return work(client);
      });
    } catch (error) {
      throw refusalFor(error);
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}

function refusalFor(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  if (error.code === CANCELED)
    return new Problem('REQUEST_TIMEOUT', {
      message: 'Reading the history took too long. Request a shorter period.',
      cause: error,
    });
  return PASSING.test(error.code ?? '') ? new Problem('UNAVAILABLE', { cause: error }) : error;
}
