import { execFileSync } from 'node:child_process';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** The name of this helper's own connection. */
const NAME = 'test (faults)';

/** Runs `work` on its own connection, which is closed at the end. */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The embedded PostgreSQL server of a platform, for fault tests. */
export class DatabaseServer {
  constructor(private readonly dataDir: string) {}

  /** Suspends the server and all its child processes for this time. */
  async standStill(ms: number, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const postmaster = await this.pid();
    // Once suspended, it starts no more processes.
    process.kill(postmaster, 'SIGSTOP');
    const pids = [postmaster, ...childrenOf(postmaster)];
    for (const pid of pids) signal(pid, 'SIGSTOP');
    try {
      await Promise.all([sleep(ms), meanwhile()]);
    } finally {
      for (const pid of pids) signal(pid, 'SIGCONT');
    }
  }

  /** Delays each commit of events by this time for each of them, so that outages meet some of them. */
  async delayCommits(ms: number): Promise<void> {
    await this.use((client) =>
      client.query(`
        CREATE FUNCTION events.test_delay() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_sleep(${ms / 1_000}); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER test_delay AFTER INSERT ON events.log DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION events.test_delay()`),
    );
  }

  /** Stops the server: with `SIGINT` it writes a checkpoint, with `SIGKILL` nothing. */
  async end(how: 'SIGINT' | 'SIGKILL'): Promise<void> {
    process.kill(await this.pid(), how);
  }

  /** Stops the server, and makes its data unavailable for this time. */
  async goAway(ms: number): Promise<void> {
    const [data, aside] = [join(this.dataDir, 'postgres'), join(this.dataDir, 'postgres.away')];
    const postmaster = await this.pid();
    const children = childrenOf(postmaster);
    await rename(data, aside);
    for (const pid of [postmaster, ...children]) signal(pid, 'SIGKILL');
    await sleep(ms);
    await rename(aside, data);
  }

  /** Closes one connection after the other, all or those with a name. Returns their names. */
  async endConnections(only?: string): Promise<string[]> {
    return this.use(async (client) => {
      const { rows } = await client.query<{ pid: number; name: string }>(
        `SELECT pid, application_name AS name FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name = coalesce($1, application_name)`,
        [only],
      );
      for (const { pid } of rows) {
        await client.query('SELECT pg_terminate_backend($1)', [pid]);
        await sleep(20);
      }
      return rows.map(({ name }) => name);
    });
  }

  private async use<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const [, , , port] = await this.pidFile();
    const password = (await readFile(join(this.dataDir, 'postgres-password'), 'utf8')).trim();
    const client = new Client({
      connectionString: `postgres://svc:${password}@127.0.0.1:${port}/postgres`,
      application_name: NAME,
    });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  private async pid(): Promise<number> {
    return Number((await this.pidFile())[0]);
  }

  private async pidFile(): Promise<string[]> {
    return (await readFile(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  }
}

function childrenOf(parent: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return processes
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
    .filter(([, ppid]) => ppid === parent)
    .map(([pid]) => pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited in the meantime.
  }
}
