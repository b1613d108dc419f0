// The processes of a run: each is started here, waited for with a deadline, and stopped by its handle.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pin, splitCores } from './cpu.mjs';

const STOP_MS = 15_000;
const START_MS = 30_000;

/** A temporary folder and the processes that run in it. `close` leaves nothing behind. */
export class Workplace {
  /**
   * @type {Set<{ name: string, process: import('node:child_process').ChildProcess, ended: Promise<void> }>}
   */
  #running = new Set();
  /** @type {(() => Promise<unknown>)[]} */
  #ends = [];
  #closing;

  /** Everything started from here on, including this process, does not use the measured core. */
  static async open({ isPinned }) {
    const place = new Workplace();
    place.dir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    // The embedded PostgreSQL may run as another user, who needs access.
    await chmod(place.dir, 0o711);
    place.cores = isPinned ? splitCores() : undefined;
    if (place.cores) pin(process.pid, place.cores.others);
    return place;
  }

  /** Gives a process the core that nothing else uses. */
  measure(child) {
    if (this.cores) pin(child.pid, this.cores.measured);
  }

  /** Starts a program; its output goes to a file with its name in the folder. */
  start(name, command, { args = [], env = process.env, cwd = this.dir, hasIpc = false } = {}) {
    if (this.#closing) throw new Error('the run is over');
    const logPath = join(this.dir, `${name}.log`);
    const log = openSync(logPath, 'w');
    const stdio = ['ignore', log, log, ...(hasIpc ? ['ipc'] : [])];
    const child = spawn(command, args, { env, cwd, stdio });
    closeSync(log);
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
      child.once('error', (error) => {
        writeFileSync(logPath, error.message);
        resolve();
      });
    });
    const entry = { name, process: child, ended };
    this.#running.add(entry);
    void ended.then(() => this.#running.delete(entry));
    return { name, pid: child.pid, process: child, ended, logPath };
  }

  /** Starts a program of this folder and waits for its ready message, which may contain its URL. */
  async startProgram(name, file, { args = [], env } = {}) {
    const child = this.start(name, process.execPath, {
      args: [fileURLToPath(file), ...args],
      env: { ...process.env, NODE_ENV: 'production', ...env },
      hasIpc: true,
    });
    const message = new Promise((resolve) => child.process.once('message', resolve));
    const { url } = await this.#within(child, message);
    return { ...child, url };
  }

  /** A started program's reply to a message. Fails if the program exits first, and after the deadline. */
  async ask(child, message, deadlineMs) {
    const answer = new Promise((resolve) => child.process.once('message', resolve));
    child.process.send(message);
    const none = Promise.race([child.ended, late(deadlineMs)]).then(() => undefined);
    const found = await Promise.race([answer, none]);
    if (!found)
      throw new Error(`${child.name} gave no answer: ${lastLines(readFileSync(child.logPath, 'utf8'))}`);
    return found;
  }

  /** Polls until `isReady`. Fails if the process exits first, or after the deadline. */
  async untilReady(child, isReady, deadlineMs) {
    const over = new AbortController();
    const ready = async () => {
      while (!over.signal.aborted && !(await isReady().catch(() => false))) await sleep(50);
    };
    try {
      await this.#within(child, ready(), deadlineMs);
    } finally {
      over.abort();
    }
  }

  /**
   * Runs a program to its end and returns its output. Fails on a code other than 0, with the output as the
   * cause, and after the deadline.
   */
  async run(name, command, { args, env, cwd, deadlineMs }) {
    const child = this.start(name, command, { args, env, cwd });
    const isLate = await Promise.race([child.ended.then(() => false), late(deadlineMs)]);
    if (isLate) await this.stop(child);
    const output = readFileSync(child.logPath, 'utf8');
    if (isLate) throw new Error(`${name} took more than ${deadlineMs / 1000} s`);
    if (child.process.exitCode !== 0)
      throw new Error(`${name} failed: ${lastLines(output)}`, { cause: output });
    return output;
  }

  /** Asks a process to stop, and kills it after a while. */
  async stop({ process: child, ended }) {
    child.kill('SIGTERM');
    if (await Promise.race([ended.then(() => false), late(STOP_MS)])) {
      child.kill('SIGKILL');
      await ended;
    }
  }

  /** Registers a function that stops other resources; the last is called first. */
  atEnd(end) {
    this.#ends.push(end);
  }

  /** Stops everything and removes the folder. */
  close() {
    this.#closing ??= (async () => {
      for (const end of this.#ends.toReversed()) await end().catch((error) => console.error(error.message));
      await Promise.all([...this.#running].map((child) => this.stop(child)));
      rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
    })();
    return this.#closing;
  }

  async #within(child, promise, deadlineMs = START_MS) {
    const end = child.ended.then(() => 'ended');
    const result = await Promise.race([promise, end, late(deadlineMs).then(() => 'late')]);
    if (result !== 'ended' && result !== 'late') return result;
    const why = result === 'late' ? `did not start within ${deadlineMs / 1000} s` : 'ended at its start';
    throw new Error(`${child.name} ${why}: ${lastLines(readFileSync(child.logPath, 'utf8'))}`);
  }
}

/** A port that is free now, for programs that can't choose one themselves. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Resolves to true after a while; does not keep the process alive. */
function late(afterMs) {
  return sleep(afterMs, true, { ref: false });
}

function lastLines(text) {
  return text.trim().split('\n').slice(-6).join('\n') || 'no output';
}
