import { once } from 'node:events';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFault } from '@svc/runtime';
import { type StorageLogger, silent } from '../logger.js';
import { freePort } from './free-ports.js';
import { type Launch, type LaunchedServer, adopt, launch, urlOf } from './launch.js';
import { findPostgresBinaries } from './postgres-binaries.js';
import { preparePostgresData } from './postgres-data.js';
import { choosePostgresUser } from './postgres-user.js';
import { findPostmaster, isPostmaster, stopPostmaster } from './postmaster.js';

const ATTEMPTS = 6;
/** How often to check whether the server still runs. */
const LOOK_MS = 1_000;
const AGAIN_MS_MAX = 5_000;
const LOG_TAIL_CHARS = 2_000;

export interface EmbeddedPostgresOptions {
  /** Contains the database, its password and its log. Created if missing. */
  readonly dataDir: string;
  readonly logger?: StorageLogger;
  /** The port of a newly started server; default: a free port. */
  readonly port?: number;
  /** Settings of a newly started server, in addition to or instead of the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A running PostgreSQL server. */
export interface EmbeddedPostgres {
  /** Connection string, including the password. */
  readonly url: string;
  /** Process id of the running server, or of the last one. */
  readonly pid: number;
  /** True if the server was already running: left by a killed process, or started by another one. */
  readonly adopted: boolean;
  /**
   * Restarts the server at the same address whenever it has ended. `onElsewhere` is called if another process
   * has started one on the same data at another address; then this one stops restarting it.
   */
  keepRunning(onElsewhere: () => void): void;
  /** Stops the server, whether or not this process started it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL from npm on `dataDir`, or takes over the one already running there. It listens on a
 * free port of 127.0.0.1 and survives a killed parent. This does not decide which process may use the
 * database: hold the instance lock, and do not stop a server while another process has the lock.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const logger = options.logger ?? silent;
  await mkdir(options.dataDir, { recursive: true });
  const dataDir = await realpath(options.dataDir);
  const binaries = await findPostgresBinaries();
  const user = await choosePostgresUser(binaries, dataDir);
  const data = await preparePostgresData(dataDir, binaries.initdb, user);
  const logPath = join(dataDir, 'postgres.log');

  const { settings = {} } = options;
  const how: Launch = { data, user, binary: binaries.postgres, logPath, logger, settings };
  for (let attempt = 1; ; attempt += 1) {
    const server = (await adopt(how)) ?? (await launch(how, options.port ?? (await freePort())));
    if (server) return new RunningPostgres(how, server);
    if (attempt === ATTEMPTS) {
      throw new StartFault(`PostgreSQL failed to start on ${data.folder}:\n${await tail(logPath)}`);
    }
    // Another process may be starting or stopping it, or the port was taken.
    await sleep(50 * 2 ** attempt);
  }
}

class RunningPostgres implements EmbeddedPostgres {
  readonly url: string;
  readonly adopted: boolean;
  private readonly how: Launch;
  private readonly port: number;
  private readonly stopping = new AbortController();
  private serverPid: number;
  private ended: Promise<void> | undefined;
  private keeping: Promise<void> = Promise.resolve();
  private stopped: Promise<void> | undefined;

  constructor(how: Launch, { pid, port, ended }: LaunchedServer) {
    this.how = how;
    this.serverPid = pid;
    this.port = port;
    this.url = urlOf(how.data, port);
    this.adopted = !ended;
    this.ended = ended;
  }

  get pid(): number {
    return this.serverPid;
  }

  keepRunning(onElsewhere: () => void): void {
    this.keeping = this.keep(onElsewhere);
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  private async shutDown(): Promise<void> {
    this.stopping.abort();
    await this.keeping;
    await stopPostmaster(this.how.data.folder, this.serverPid);
  }

  private async keep(onElsewhere: () => void): Promise<void> {
    const { signal } = this.stopping;
    let waitMs = LOOK_MS;
    while (!signal.aborted) {
      await this.untilLook(waitMs);
      if (signal.aborted) return;
      const state = await this.look();
      if (state === 'elsewhere') return onElsewhere();
      waitMs = state === 'running' ? LOOK_MS : Math.min(waitMs * 2, AGAIN_MS_MAX);
    }
  }

  /** The end of a server that this process has started is reported; another one has to be looked at. */
  private async untilLook(waitMs: number): Promise<void> {
    const { signal } = this.stopping;
    if (this.ended) await Promise.race([this.ended, once(signal, 'abort')]);
    this.ended = undefined;
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }

  /** Checks whether the server runs, and restarts it if it does not. */
  private async look(): Promise<'running' | 'ended' | 'elsewhere'> {
    const { data, logger } = this.how;
    try {
      if (await isPostmaster(data.folder, this.serverPid)) return 'running';
      const found = await findPostmaster(data.folder);
      if (found && found.port !== this.port) return 'elsewhere';
      logger.warn(`PostgreSQL (process ${this.serverPid}) has exited and is restarted`);
      const server = found ? await adopt(this.how) : await launch(this.how, this.port);
      if (!server) return 'ended';
      this.serverPid = server.pid;
      this.ended = server.ended;
      return 'running';
    } catch (error) {
      logger.warn(
        `PostgreSQL could not be restarted: ${error instanceof Error ? error.message : String(error)}`,
      );
      return 'ended';
    }
  }
}

async function tail(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).slice(-LOG_TAIL_CHARS);
}
