import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestDatabase } from '@svc/storage/testing';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { ownPlatform } from '../own-platform.js';
import { isClustered } from '../target.js';

/** How long it is watched at a time. */
const IDLE_SECONDS = 20;

/** A process still has work after its start, for longer on a busy machine; what rests has a time of rest. */
const MOST_LOOKS = 6;

/**
 * A third more than the heartbeat of its lock every 2 s, looks at its files, and polls every 15 s or less
 * often, take.
 */
const MOST_PER_SECOND = { transactions: 1.8, wakeups: 8 };

interface Rates {
  readonly transactions: number;
  readonly wakeups: number;
}

const isRest = ({ transactions, wakeups }: Rates): boolean =>
  transactions < MOST_PER_SECOND.transactions && wakeups < MOST_PER_SECOND.wakeups;

/** How often the main thread of a process has gone to sleep. */
async function sleepsOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/task/${pid}/status`, 'utf8');
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1]);
}

it.skipIf(isClustered() || process.platform !== 'linux')(
  'an idle process rests: it is hardly woken, and hardly queries its database',
  async () => {
    const database = await startTestDatabase();
    onTestFinished(() => database.stop());
    const platform = await ownPlatform({ env: { DATABASE_URL: database.url } });
    // Connected to another database of the server, so that its own queries don't count.
    const server = new URL(database.url);
    const name = server.pathname.slice(1);
    server.pathname = '/postgres';
    const client = new pg.Client({ connectionString: server.href });
    await client.connect();
    onTestFinished(() => client.end());
    const counts = async (): Promise<Rates> => {
      const { rows } = await client.query<{ count: string }>(
        'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = $1',
        [name],
      );
      return { transactions: Number(rows[0]?.count), wakeups: await sleepsOf(platform.service.pid) };
    };
    const watched = async (): Promise<Rates> => {
      const before = await counts();
      await sleep(IDLE_SECONDS * 1_000);
      const after = await counts();
      return {
        transactions: (after.transactions - before.transactions) / IDLE_SECONDS,
        wakeups: (after.wakeups - before.wakeups) / IDLE_SECONDS,
      };
    };
    let rates = await watched();
    for (let looks = 1; looks < MOST_LOOKS && !isRest(rates); looks += 1) rates = await watched();
    expect(rates.transactions).toBeLessThan(MOST_PER_SECOND.transactions);
    expect(rates.wakeups).toBeLessThan(MOST_PER_SECOND.wakeups);
  },
  (MOST_LOOKS + 2) * IDLE_SECONDS * 1_000,
);
