import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '@svc/runtime';

/** The compiled module, also when this file runs from its TypeScript source: a child process loads plain JavaScript. */
const FOLLOW_PARENT = new URL('../dist/follow-parent.js', import.meta.url).href;

/** How often a process is asked whether it is ready. */
const ASK_EVERY_MS = 200;
const ANSWER_MS = 1_000;

/** A process that ended by itself is started again after so long, and after twice as long each time. */
const AGAIN_MS = 200;
const AGAIN_MS_MOST = 10_000;
/** One that has lived for so long begins with the short pause again. */
const LIVED_MS = 30_000;

/** Beyond the time that it gives answers under way, how long a process may take to stop. */
const STOP_MS = 60_000;

export interface ServiceOptions {
  /** What it is called in logs: `gateway-1`. */
  readonly name: string;
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Environment;
  /** Where it listens, also when it is started again. */
  readonly port: number;
  /** Where it is asked whether it is ready; default: `/readyz`. */
  readonly readyPath?: string;
  readonly logPath: string;
  /** What happened to it, in a few words. */
  readonly tell: (what: string) => void;
}

/** A process of the cluster, which is started again when it ends by itself. */
export class ReplicaProcess {
  readonly name: string;
  readonly port: number;
  /** How often it was started. */
  starts = 0;
  private child: ChildProcess | undefined;
  private answers = false;
  private isLeaving = false;
  private failures = 0;
  private turns: Promise<void> = Promise.resolve();
  private env: Environment;
  private readonly log: WriteStream;
  private readonly asking: NodeJS.Timeout;

  constructor(private readonly options: ServiceOptions) {
    ({ name: this.name, port: this.port, env: this.env } = options);
    this.log = createWriteStream(options.logPath, { flags: 'a' });
    this.asking = setInterval(() => void this.ask(), ASK_EVERY_MS); // It never rejects.
    this.start();
  }

  /** Whether it says that it can serve, and is not about to stop. */
  get isReady(): boolean {
    return this.answers && !this.isLeaving;
  }

  get pid(): number | undefined {
    return this.isRunning ? this.child?.pid : undefined;
  }

  /** Resolves when it is ready; rejects at the deadline. */
  async ready(deadlineMs = 60_000): Promise<void> {
    const endMs = performance.now() + deadlineMs;
    while (!this.isReady) {
      if (performance.now() > endMs)
        throw new Error(`${this.name} is not ready in time: see ${this.options.logPath}`);
      await sleep(20);
    }
  }

  /** Sends it a signal, such as SIGKILL, SIGSTOP, SIGCONT. One that ends by it is started again. */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.answers = false;
    this.child?.kill(signal);
  }

  /** Lets it finish and starts it anew, with other settings where they are given; resolves when it is ready. */
  async restart(env = this.env): Promise<void> {
    await this.inTurn(async () => {
      await this.end();
      this.env = env;
      this.isLeaving = false;
      this.start();
    });
    await this.ready();
  }

  /** Lets it finish, for good. Gives its exit code; `null` where it had to be killed. */
  async stop(): Promise<number | null> {
    clearInterval(this.asking);
    await this.inTurn(async () => {
      await this.end();
      this.log.end();
    });
    return this.child?.exitCode ?? null;
  }

  /** Two that restart it at once would lose sight of one process. */
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
    const { main, args = [] } = this.options;
    const startedMs = performance.now();
    this.starts += 1;
    this.answers = false;
    // In a session of its own: Ctrl-C reaches the cluster alone, which stops its processes in their order.
    const child = spawn(process.execPath, ['--import', FOLLOW_PARENT, main, ...args], {
      env: { ...this.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    this.child = child;
    child.stdout?.pipe(this.log, { end: false });
    child.stderr?.pipe(this.log, { end: false });
    child.once('error', (error) => this.options.tell(`can not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      this.answers = false;
      if (this.isLeaving) return;
      if (performance.now() - startedMs > LIVED_MS) this.failures = 0;
      const againMs = Math.min(AGAIN_MS * 2 ** this.failures, AGAIN_MS_MOST);
      this.failures += 1;
      this.options.tell(`ended with ${signal ?? code} and is started again in ${againMs} ms`);
      setTimeout(() => {
        if (!this.isLeaving) this.start();
      }, againMs);
    });
  }

  private async ask(): Promise<void> {
    const { child } = this;
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}${this.options.readyPath ?? '/readyz'}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      await response.body?.cancel();
      if (child === this.child && this.isRunning) this.turn(response.status === 200);
    } catch {
      if (child === this.child) this.turn(false);
    }
  }

  private turn(answers: boolean): void {
    if (answers === this.answers) return;
    this.answers = answers;
    if (!this.isLeaving) this.options.tell(answers ? 'is ready' : 'is not ready');
  }
}
