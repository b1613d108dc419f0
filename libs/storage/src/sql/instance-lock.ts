import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeadlineExceeded, retrying, within } from '@svc/runtime';
import { ErrorSafeClient } from './error-safe-client.js';

/** The backend of a process that was just killed takes a moment to release its lock. */
const RETRY_FOR_MS = 2_000;
const RETRY_MS = 100;
const DELAYS = { firstMs: RETRY_MS, lastMs: 1_000 };
const CONNECT_MS = 5_000;
/** Each heartbeat wakes the process and the database. */
const HEARTBEAT_MS = 2_000;
/** A database that does not respond for this long counts as down. */
const RESPONSE_MS = 2_500;
/** A connection silent for this long is closed. Until then a stalled server keeps the lock. */
const IDLE_TIMEOUT_MS = 30_000;
const CLOSE_MS = 2_000;
/** Warn after waiting this long for a lock that this process had. */
const REFUSED_MS = 30_000;

/** Another process holds the lock. */
export class InstanceRunning extends Error {
  override readonly name = 'InstanceRunning';
}

/** A dead session of this process still has the lock. */
class LockRefused extends Error {}

/** Notified of changes of a lock. */
export interface LockWatch {
  /** The database does not respond, or the lock was lost with its connection. Retaking it is being tried. */
  onAway(reason: string): void;
  /** The lock is held again, and no other process had it in between. */
  onBack(): void;
  /** Another process has had it: this process's memory may be wrong. The lock is given up. */
  onTaken(): void;
}

/** Whether one process has the lock alone, or the processes of a cluster share it. */
export type LockMode = 'alone' | 'together';

/** The holder id of processes that share a lock. */
const TOGETHER = '00000000-0000-4000-8000-000000000000';

const TRY: Readonly<Record<LockMode, string>> = {
  alone: 'pg_try_advisory_lock',
  together: 'pg_try_advisory_lock_shared',
};

interface Place {
  readonly url: string;
  readonly name: string;
  readonly mode: LockMode;
}

/** The right to be the only process, or part of the only cluster, of its kind on a database. */
export interface InstanceLock {
  /**
   * Records the holder, and keeps the lock across outages. Call it when the tables exist, and before doing
   * anything that excludes other processes. Rejects if the database can't be reached.
   */
  keep(watch: LockWatch): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the lock `name` on the database, on its own connection. Throws `InstanceRunning` if another process
 * has it in a conflicting mode and keeps it for two more seconds.
 */
export async function holdInstanceLock(
  url: string,
  name: string,
  mode: LockMode = 'alone',
): Promise<InstanceLock> {
  const place = { url, name, mode };
  const client = clientOf(place);
  try {
    await client.connect();
    await within(CONNECT_MS, client.enableKeepalive());
    const deadline = Date.now() + RETRY_FOR_MS;
    while (!(await tryLock(client, place))) {
      if (Date.now() > deadline)
        throw new InstanceRunning(`Another process runs as "${name}" on this database`);
      await sleep(RETRY_MS);
    }
  } catch (error) {
    client.destroy();
    throw error;
  }
  return new HeldLock(place, client);
}

function clientOf({ url, name }: Place): ErrorSafeClient {
  return new ErrorSafeClient({
    connectionString: url,
    application_name: `${name} (instance lock)`,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
}

async function tryLock(client: ErrorSafeClient, { name, mode }: Place): Promise<boolean> {
  const { rows } = await within(
    CONNECT_MS,
    client.query<{ taken: boolean }>(`SELECT ${TRY[mode]}(hashtextextended($1, 0)) AS taken`, [name]),
  );
  return rows[0]?.taken === true;
}

class HeldLock implements InstanceLock {
  /** The holder id of this process. */
  private readonly holder: string;
  private readonly place: Place;
  private readonly stop = new AbortController();
  private client: ErrorSafeClient;
  private away = false;

  constructor(place: Place, client: ErrorSafeClient) {
    this.place = place;
    this.holder = place.mode === 'alone' ? randomUUID() : TOGETHER;
    this.client = client;
  }

  async keep(watch: LockWatch): Promise<void> {
    const sign = this.client.query(
      `INSERT INTO storage.instances AS i (name, holder, since) VALUES ($1, $2, now())
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, since = excluded.since`,
      [this.place.name, this.holder],
    );
    await within(CONNECT_MS, sign);
    // Runs until the release, and never rejects.
    void this.watch(watch);
  }

  async release(): Promise<void> {
    this.stop.abort();
    const client = this.client;
    await within(CLOSE_MS, client.end()).catch(() => client.destroy());
  }

  private async watch(watch: LockWatch): Promise<void> {
    while (!this.stop.signal.aborted) {
      try {
        await this.beat(watch);
        continue;
      } catch (error) {
        this.client.destroy();
        if (this.stop.signal.aborted) return;
        this.reportAway(watch, error instanceof Error ? error.message : String(error));
      }
      const client = await this.takeAgain(watch);
      if (client === 'taken') return watch.onTaken();
      if (!client) return;
      this.client = client;
      this.reportBack(watch);
    }
  }

  /** Checks that the database responds, then waits until the next check or the end of the connection. */
  private async beat(watch: LockWatch): Promise<void> {
    const response = this.client.query('SELECT 1');
    try {
      await within(RESPONSE_MS, response);
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      this.reportAway(watch, 'it does not respond');
      await within(IDLE_TIMEOUT_MS, response);
      this.reportBack(watch);
    }
    const ended = Promise.withResolvers<void>();
    this.client.once('end', ended.resolve);
    await Promise.race([this.pause(HEARTBEAT_MS), ended.promise]);
    this.client.off('end', ended.resolve);
  }

  /** Tries until this process has the lock again. Returns `taken` if another process had it in between. */
  private async takeAgain(watch: LockWatch): Promise<ErrorSafeClient | 'taken' | undefined> {
    let refusedSinceMs: number | undefined;
    let isReported = false;
    const onFailure = (error: unknown): void => {
      refusedSinceMs = error instanceof LockRefused ? (refusedSinceMs ?? Date.now()) : undefined;
      if (isReported || refusedSinceMs === undefined || Date.now() - refusedSinceMs < REFUSED_MS) return;
      isReported = true;
      watch.onAway(`another session has had the lock for ${REFUSED_MS / 1_000} s`);
    };
    const { signal } = this.stop;
    // It rejects only when the lock is released.
    return retrying(() => this.takeOnce(), { ...DELAYS, signal, onFailure }).catch(() => undefined);
  }

  private async takeOnce(): Promise<ErrorSafeClient | 'taken'> {
    const { signal } = this.stop;
    signal.throwIfAborted();
    const client = clientOf(this.place);
    try {
      await client.connect();
      await within(CONNECT_MS, client.enableKeepalive());
      const isHeld = await tryLock(client, this.place);
      // Each holder records its id while it holds the lock, so the next one can tell whether anyone held it
      // in between.
      const holder = await holderOf(client, this.place.name);
      if (holder !== this.holder) {
        client.destroy();
        return 'taken';
      }
      if (!isHeld || signal.aborted) throw new LockRefused('another session has the lock');
      return client;
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  private async pause(waitMs: number): Promise<void> {
    await sleep(waitMs, undefined, { signal: this.stop.signal }).catch(() => undefined);
  }

  private reportAway(watch: LockWatch, reason: string): void {
    if (this.away) return;
    this.away = true;
    watch.onAway(reason);
  }

  private reportBack(watch: LockWatch): void {
    this.away = false;
    watch.onBack();
  }
}

async function holderOf(client: ErrorSafeClient, name: string): Promise<string | undefined> {
  const { rows } = await within(
    CONNECT_MS,
    client.query<{ holder: string }>('SELECT holder FROM storage.instances WHERE name = $1', [name]),
  );
  return rows[0]?.holder;
}
