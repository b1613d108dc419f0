import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '@svc/runtime';

/**
 * The compiled module, even if this file runs from its TypeScript source: a child process loads plain
 * JavaScript.
 */
const FOLLOW_PARENT = new URL('../dist/follow-parent.js', import.meta.url).href;

/** How often a process is polled for its readiness. */
const PROBE_EVERY_MS = 200;
const RESPONSE_MS = 1_000;

/** The pause before a process that exited is restarted; doubled each time. */
const AGAIN_MS = 200;
const AGAIN_MS_MOST = 10_000;
/** After running for this long, the next restart begins with the short pause again. */
const LIVED_MS = 30_000;

/** How long a process may take to stop, beyond the time for open responses. */
const STOP_MS = 60_000;

export interface ServiceOptions {
  /** Its name in logs: `gateway-1`. */
  readonly name: string;
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Environment;
  /** Its port, also after a restart. */
  readonly port: number;
  /** The path of the readiness probe; default: `/readyz`. */
  readonly readyPath?: string;
  readonly logPath: string;
  /** Called with a short text about each event. */
  readonly onEvent: (what: string) => void;
}

/** A process of the cluster, which is restarted when it exits by itself. */
export class ReplicaProcess {
  readonly name: string;
  readonly port: number;
  /** The number of starts. */
  starts = 0;
  private child: ChildProcess | undefined;
  private isResponding = false;
  private isLeaving = false;
  private failures = 0;
  private turns: Promise<void> = Promise.resolve();
  private env: Environment;
  private main: string;
  private readonly log: WriteStream;
  private readonly probing: NodeJS.Timeout;

  constructor(private readonly options: ServiceOptions) {
    ({ name: this.name, port: this.port, env: this.env, main: this.main } = options);
    this.log = createWriteStream(options.logPath, { flags: 'a' });
    this.probing = setInterval(() => void this.probe(), PROBE_EVERY_MS); // It never rejects.
    this.start();
  }

  /** Whether it is ready, and not about to stop. */
  get isReady(): boolean {
    return this.isResponding && !this.isLeaving;
  }

  get pid(): number | undefined {
    return this.isRunning ? this.child?.pid : undefined;
  }

  /** Resolves when it is ready; rejects at the deadline. */
  async ready(deadlineMs = 60_000): Promise<void> {
    const endMs = performance.now() + deadlineMs;
    while (!this.isReady) {
      if (performance.now() > endMs)
        throw new Error(`${this.name} did not become ready before the deadline: see ${this.options.logPath}`);
      await sleep(20);
    }
  }

  /** Sends a signal, such as SIGKILL, SIGSTOP, SIGCONT. If the process exits, it is restarted. */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.isResponding = false;
    this.child?.kill(signal);
  }

  /** Sets the settings of its next start. Returns whether they differ from those of this one. */
  setEnv(env: Environment): boolean {
    const differs = !isDeepStrictEqual(env, this.env);
    this.env = env;
    return differs;
  }

  /**
   * Lets it finish and starts it again, with other settings and another main if given; resolves when it is
   * ready.
   */
  async restart(env = this.env, main = this.main): Promise<void> {
    await this.inTurn(async () => {
      await this.end();
      this.env = env;
      this.main = main;
      this.isLeaving = false;
      this.start();
    });
    await this.ready();
  }

  /** Lets it finish, without a restart. Returns its exit code; `null` if it had to be killed. */
  async stop(): Promise<number | null> {
    clearInterval(this.probing);
    await this.inTurn(async () => {
      await this.end();
      this.log.end();
    });
    return this.child?.exitCode ?? null;
  }

  /** Two concurrent restarts would lose track of one process. */
  private inTurn(work: () => Promise<void>): Promise<void> {
    this.turns = this.turns.then(work);
    return this.turns;
  }

  private async end(): Promise<void> {
    this.isLeaving = true;
    const { child } = this;
    if (!child || !this.isRunning) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  private get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  private start(): void {
    const { args = [] } = this.options;
    const startedMs = performance.now();
    this.starts += 1;
    this.isResponding = false;
    // In its own session: Ctrl-C reaches only the cluster, which stops its processes in order.
    const child = spawn(process.execPath, ['--import', FOLLOW_PARENT, this.main, ...args], {
      env: { ...this.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    this.child = child;
    child.stdout?.pipe(this.log, { end: false });
    child.stderr?.pipe(this.log, { end: false });
    child.once('error', (error) => this.options.onEvent(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      this.isResponding = false;
      if (this.isLeaving) return;
      if (performance.now() - startedMs > LIVED_MS) this.failures = 0;
      const againMs = Math.min(AGAIN_MS * 2 ** this.failures, AGAIN_MS_MOST);
      this.failures += 1;
      this.options.onEvent(`ended with ${signal ?? code} and is restarted in ${againMs} ms`);
      setTimeout(() => {
        if (!this.isLeaving) this.start();
      }, againMs);
    });
  }

  private async probe(): Promise<void> {
    const { child } = this;
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}${this.options.readyPath ?? '/readyz'}`, {
        signal: AbortSignal.timeout(RESPONSE_MS),
      });
      await response.body?.cancel();
      if (child === this.child && this.isRunning) this.update(response.status === 200);
    } catch {
      if (child === this.child) this.update(false);
    }
  }

  private update(isResponding: boolean): void {
    if (isResponding === this.isResponding) return;
    this.isResponding = isResponding;
    if (!this.isLeaving) this.options.onEvent(isResponding ? 'is ready' : 'is not ready');
  }
}
