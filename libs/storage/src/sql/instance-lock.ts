import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** The backend of a process that was just killed takes a moment to let its lock go. */
const RETRY_FOR_MS = 2_000;
const RETRY_MS = 100;
const HEARTBEAT_MS = 5_000;
const ANSWER_MS = 5_000;

/** Another process holds the lock. */
export class InstanceRunning extends Error {
  override readonly name = 'InstanceRunning';
}

/** The right to be the only process of its kind on a database. */
export interface InstanceLock {
  /** Calls back once when the lock is lost without having been released: the process should stop. */
  onLost(callback: (reason: Error) => void): void;
  release(): Promise<void>;
}

/**
 * Takes the lock `name` on the database, on a connection of its own. Throws `InstanceRunning` when another process
 * has it and keeps it for two more seconds.
 */
export async function holdInstanceLock(url: string, name: string): Promise<InstanceLock> {
  const client = new Client({
    connectionString: url,
    application_name: `${name} (instance lock)`,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
  });
  const lock = new HeldLock(client);
  try {
    await client.connect();
    const deadline = Date.now() + RETRY_FOR_MS;
    while (!(await tryLock(client, name))) {
      if (Date.now() > deadline)
        throw new InstanceRunning(`Another process runs as "${name}" on this database`);
      await sleep(RETRY_MS);
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
  lock.watch();
  return lock;
}

async function tryLock(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
    [name],
  );
  return rows[0]?.taken === true;
}

class HeldLock implements InstanceLock {
  readonly #client: Client;
  readonly #callbacks: ((reason: Error) => void)[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #lost: Error | undefined;
  #released = false;

  constructor(client: Client) {
    this.#client = client;
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('The connection that holds the instance lock has ended')));
  }

  /** A database that was cut off without a word would otherwise go unnoticed. */
  watch(): void {
    this.#heartbeat = setInterval(() => {
      this.#client.query('SELECT 1').catch((error: Error) => this.#lose(error));
    }, HEARTBEAT_MS).unref();
  }

  onLost(callback: (reason: Error) => void): void {
    if (this.#lost) callback(this.#lost);
    else this.#callbacks.push(callback);
  }

  async release(): Promise<void> {
    this.#released = true;
    clearInterval(this.#heartbeat);
    await Promise.race([
      this.#client.end().catch(() => undefined),
      sleep(ANSWER_MS, undefined, { ref: false }),
    ]);
  }

  #lose(reason: Error): void {
    if (this.#released || this.#lost) return;
    this.#lost = reason;
    clearInterval(this.#heartbeat);
    for (const callback of this.#callbacks) callback(reason);
  }
}
