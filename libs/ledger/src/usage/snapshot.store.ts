import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import { within } from '@svc/runtime';
import { Database } from '@svc/storage';
import { DatabaseError, type PoolClient } from 'pg';

/** Reads at once, so that whoever exports a history leaves connections and processors to those who post. */
const READS_AT_ONCE = 2;
/** Reads that wait for their turn; more are refused. */
const READS_WAITING = 100;
const STATEMENT_MS = 4_000;
/** From asking to having it, the wait for a turn included. */
const READ_MS = 8_000;

/** One state for all statements. Compiling their plans would take longer than running them. */
const BEGIN_READING = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL statement_timeout = ${STATEMENT_MS};
SET LOCAL jit = off`;

const CANCELED = '57014';
/** Classes of PostgreSQL errors that pass: lost connections, too few resources, a server that stops. */
const PASSING = /^(08|53|57)/;

/** Reads what may be much, without getting in the way of those who post. */
@Injectable()
export class SnapshotStore {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly database: Database) {}

  /**
   * Runs reads that all see the same state. Refuses: UNAVAILABLE when there are too many reads or there is no
   * database, REQUEST_TIMEOUT when a statement takes too long.
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
      // Whoever asked was told already that it takes too long.
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
      message: 'Reading the history took too long. Ask for a shorter time.',
      cause: error,
    });
  return PASSING.test(error.code ?? '') ? new Problem('UNAVAILABLE', { cause: error }) : error;
}
