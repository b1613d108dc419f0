import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, findPostmaster, startEmbeddedPostgres, stopPostmaster } from '@svc/storage';
import { privateFolder } from './private-files.js';
import { birthOf, processTreeOf, signal, until } from './processes.js';
import type { Server } from './server.js';

const KILL_MS = 10_000;
/** Every replica of every service has its own pools. */
const SETTINGS = { max_connections: '300' };

/** The PostgreSQL that comes with npm. */
export class PostgresServer implements Server {
  readonly variable = 'DATABASE_URL';

  constructor(private readonly folder: string) {}

  async address(): Promise<string | undefined> {
    return (await this.pid()) === undefined ? undefined : this.start();
  }

  async start(): Promise<string> {
    const running = await this.pid();
    if (running !== undefined) await this.resume();
    // PostgreSQL may run as another user, who must be able to enter the folder but not list it.
    await privateFolder(this.folder, 0o711);
    const portPath = join(this.folder, 'port');
    const had = Number(await readFile(portPath, 'utf8').catch(() => '')) || undefined;
    const port = running === undefined ? await freePort(had) : undefined;
    const { url } = await startEmbeddedPostgres({
      dataDir: this.folder,
      settings: SETTINGS,
      ...(port !== undefined && { port }),
    });
    await writeFile(portPath, new URL(url).port);
    return url;
  }

  credentials(): Promise<Readonly<Record<string, string>>> {
    return Promise.resolve({});
  }

  async pids(): Promise<readonly number[]> {
    const pid = await this.pid();
    return pid === undefined ? [] : processTreeOf(pid);
  }

  async stop(): Promise<void> {
    const pid = await this.pid();
    if (pid === undefined) return;
    await this.resume();
    await stopPostmaster(this.data, pid);
  }

  async kill(): Promise<void> {
    const pid = await this.pid();
    if (pid === undefined) return;
    const tree = await processTreeOf(pid);
    for (const member of tree) signal(member, 'SIGKILL');
    const ended = async (): Promise<boolean> =>
      (await Promise.all(tree.map(birthOf))).every((birth) => birth === undefined);
    if (!(await until(ended, KILL_MS))) throw new Error(`PostgreSQL (process ${pid}) did not exit`);
  }

  async pause(): Promise<void> {
    const pid = await this.pid();
    if (pid === undefined) throw new Error(`${this.variable}: the server is not running`);
    // Once stopped, it can't start further processes.
    signal(pid, 'SIGSTOP');
    for (const member of await processTreeOf(pid)) signal(member, 'SIGSTOP');
  }

  async resume(): Promise<void> {
    const pid = await this.pid();
    if (pid === undefined) return;
    for (const member of await processTreeOf(pid)) signal(member, 'SIGCONT');
  }

  async wipe(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.folder, 'postgres');
  }

  private async pid(): Promise<number | undefined> {
    return (await findPostmaster(this.data))?.pid;
  }
}
