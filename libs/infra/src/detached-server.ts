import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@svc/storage';
import { birthOf, hasStopped, processTreeOf, signal, until } from './processes.js';
import { privateFolder } from './private-files.js';
import type { ServerEnvironment, Server } from './server.js';

const READY_MS = 120_000;
const STOP_MS = 15_000;
const KILL_MS = 10_000;
const PAUSE_MS = 10_000;
const ATTEMPTS = 4;
const TAIL_CHARS = 3_000;

/** The record of a started server, for later callers. */
interface Written {
  readonly pid: number;
  readonly birth: string;
  readonly ports: readonly number[];
}

/** The command line of a server. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * A server in its own session, so that it outlives the process that started it. Its folder holds its data,
 * log and record.
 */
export abstract class DetachedServer implements Server {
  abstract readonly variable: Server['variable'];
  /** The number of ports it listens on. */
  protected abstract readonly portCount: number;

  /** @param env Locates the programs. */
  constructor(
    protected readonly folder: string,
    protected readonly env: ServerEnvironment,
  ) {}

  /** Writes the configuration and returns the command line. */
  protected abstract program(ports: readonly number[]): Promise<Program>;
  protected abstract addressOf(ports: readonly number[]): string | Promise<string>;
  /** Whether it is operational. `log` is the output of this process. */
  protected abstract isReady(ports: readonly number[], log: string): Promise<boolean>;

  credentials(): Promise<Readonly<Record<string, string>>> {
    return Promise.resolve({});
  }

  /** Its fixed ports; by default it reuses its previous ports if free, or else picks new ones. */
  protected get fixedPorts(): readonly number[] | undefined {
    return undefined;
  }

  private get logPath(): string {
    return join(this.folder, 'server.log');
  }

  async address(): Promise<string | undefined> {
    const written = await this.running();
    return written && this.addressOf(written.ports);
  }

  async start(): Promise<string> {
    const running = await this.running();
    if (running) {
      signal(running.pid, 'SIGCONT');
      if (await until(() => this.looksReady(running.ports), READY_MS)) return this.addressOf(running.ports);
      await this.kill();
    }
    await privateFolder(this.folder);
    for (let attempt = 1; ; attempt += 1) {
      const ports = await this.choosePorts();
      if (await this.launch(ports)) return this.addressOf(ports);
      if (attempt === ATTEMPTS) {
        throw new Error(
          `${this.variable}: the server did not start.\n${(await this.log()).slice(-TAIL_CHARS)}`,
        );
      }
    }
  }

  async pids(): Promise<readonly number[]> {
    const running = await this.running();
    return running ? processTreeOf(running.pid) : [];
  }

  async stop(): Promise<void> {
    const running = await this.running();
    if (!running) return;
    signal(running.pid, 'SIGTERM');
    signal(running.pid, 'SIGCONT');
    if (!(await this.ends(running, STOP_MS))) await this.kill();
  }

  async kill(): Promise<void> {
    const running = await this.running();
    if (!running) return;
    signal(running.pid, 'SIGKILL');
    if (!(await this.ends(running, KILL_MS))) throw new Error(`Process ${running.pid} did not exit`);
  }

  async pause(): Promise<void> {
    const running = await this.running();
    if (!running) throw new Error(`${this.variable}: the server is not running`);
    signal(running.pid, 'SIGSTOP');
    // Threads on other processors may still finish what they do.
    await until(() => hasStopped(running.pid), PAUSE_MS);
  }

  async resume(): Promise<void> {
    const running = await this.running();
    if (running) signal(running.pid, 'SIGCONT');
  }

  async wipe(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /**
   * Starts a process. False if it ended before it was ready, for example because another process took the
   * port.
   */
  private async launch(ports: readonly number[]): Promise<boolean> {
    const { command, args } = await this.program(ports);
    await rm(this.logPath, { force: true });
    const child = await this.spawn(command, args);
    const { pid } = child;
    const birth = pid === undefined ? undefined : await birthOf(pid);
    if (pid === undefined || birth === undefined) return false;
    const written: Written = { pid, birth, ports };
    await this.write(written);
    let isUp = false;
    const settled = async (): Promise<boolean> => {
      isUp = await this.looksReady(ports);
      return isUp || (await birthOf(pid)) !== birth;
    };
    if (!(await until(settled, READY_MS))) await this.kill();
    return isUp;
  }

  private async spawn(command: string, args: readonly string[]): Promise<ChildProcess> {
    const log = await open(this.logPath, 'a', 0o600);
    try {
      const child = spawn(command, args, {
        cwd: this.folder,
        // Nothing else from this environment, which may hold secrets.
        env: { PATH: this.env['PATH'], HOME: this.env['HOME'] },
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      });
      // The failure shows in the log, or in the missing process.
      child.once('error', () => undefined);
      child.unref();
      return child;
    } finally {
      await log.close();
    }
  }

  private async looksReady(ports: readonly number[]): Promise<boolean> {
    return this.isReady(ports, await this.log());
  }

  private async log(): Promise<string> {
    return readFile(this.logPath, 'utf8').catch(() => '');
  }

  private async choosePorts(): Promise<number[]> {
    if (this.fixedPorts) return [...this.fixedPorts];
    const had = (await this.read())?.ports ?? [];
    const ports: number[] = [];
    while (ports.length < this.portCount) {
      const port = await freePort(had[ports.length]);
      if (!ports.includes(port)) ports.push(port);
    }
    return ports;
  }

  /** The latest process, if it still runs. */
  private async running(): Promise<Written | undefined> {
    const written = await this.read();
    return written && (await birthOf(written.pid)) === written.birth ? written : undefined;
  }

  private ends({ pid, birth }: Written, deadlineMs: number): Promise<boolean> {
    return until(async () => (await birthOf(pid)) !== birth, deadlineMs);
  }

  private async read(): Promise<Written | undefined> {
    try {
      return JSON.parse(await readFile(join(this.folder, 'server.json'), 'utf8')) as Written;
    } catch {
      return undefined;
    }
  }

  private async write(written: Written): Promise<void> {
    const path = join(this.folder, 'server.json');
    await writeFile(`${path}.new`, JSON.stringify(written), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }
}
