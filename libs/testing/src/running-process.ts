import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** How long a process may take to become ready, and to stop. */
const DEADLINE_MS = 60_000;

export interface ProgramOptions {
  /** The compiled main of the process. */
  readonly main: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The user that it runs as; default: the user of the test. */
  readonly uid?: number;
  /** Whether it runs in its own process group, which `kill` then ends as a whole. */
  readonly ownGroup?: boolean;
}

/** A process of the platform, started as an operator would start it. */
export class RunningProcess {
  /** Its output so far. */
  output = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly ownGroup: boolean,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-1_000_000);
      });
    }
  }

  /**
   * Starts it and resolves with the match when its output matches; rejects with its output if it ends before.
   */
  static async start(
    options: ProgramOptions,
    ready: RegExp,
  ): Promise<{ service: RunningProcess; match: RegExpExecArray }> {
    const service = RunningProcess.spawn(options);
    return { service, match: await service.matching(ready) };
  }

  static spawn({ main, args = [], env, uid, ownGroup = false }: ProgramOptions): RunningProcess {
    const child = spawn(process.execPath, [main, ...args], {
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: ownGroup,
      ...(uid !== undefined && { uid }),
    });
    return new RunningProcess(child, ownGroup);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** `null` while it runs; 128 if a signal ended it. */
  get exitCode(): number | null {
    return this.child.signalCode === null ? this.child.exitCode : 128;
  }

  /** Resolves with the match once its output matches; rejects with its output if it ends before. */
  async matching(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = Date.now() + DEADLINE_MS;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.exitCode !== null) throw new Error(`it ended with ${this.exitCode}:\n${this.output}`);
      if (Date.now() > deadline) {
        this.signal('SIGKILL');
        throw new Error(`it was not ready in time:\n${this.output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  signal(signal: NodeJS.Signals): void {
    if (this.exitCode !== null) return;
    if (this.ownGroup) process.kill(-this.pid, signal);
    else this.child.kill(signal);
  }

  /** Stops it, or ends it with another signal, and returns its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
    if (this.exitCode !== null) return this.exitCode;
    const closed = once(this.child, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) });
    this.signal(signal);
    await closed;
    return this.exitCode ?? 0;
  }

  /** Resolves with the exit code once it has ended by itself. */
  async ended(withinMs = DEADLINE_MS): Promise<number> {
    if (this.exitCode === null) await once(this.child, 'close', { signal: AbortSignal.timeout(withinMs) });
    return this.exitCode ?? 0;
  }
}
