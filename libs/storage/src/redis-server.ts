import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'redis-server';
const ATTEMPTS = 5;
const START_MS = 10_000;

/** A Redis server of a test's own, empty at its start. */
export interface TestRedis {
  readonly url: string;
  readonly pid: number;
  /** `SIGSTOP` and `SIGCONT`, or what ends it without a goodbye. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again at the same address after it has ended. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

let installed: boolean | undefined;

/** Whether `redis-server` is on the PATH. */
export function isRedisInstalled(): boolean {
  installed ??= spawnSync(PROGRAM, ['--version'], { timeout: 10_000 }).status === 0;
  return installed;
}

/** Starts `redis-server` on a free port of this machine, without persistence. */
export async function startTestRedis(): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), `svc-test-redis-${process.pid}-`));
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return running(dir, port, await launch(dir, port));
    } catch (error) {
      // Another process may have taken the port meanwhile.
      if (attempt < ATTEMPTS) continue;
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }
}

function running(dir: string, port: number, first: ChildProcess): TestRedis {
  let child = first;
  // A test runner that gives up calls no hooks; what is left is to take the server down with the process.
  const abandon = (): void => void child.kill('SIGKILL');
  process.once('exit', abandon);
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? 0;
    },
    signal: (signal) => void child.kill(signal),
    restart: async () => {
      await ended(child);
      child = await launch(dir, port);
    },
    stop: async () => {
      process.off('exit', abandon);
      child.kill('SIGKILL');
      await ended(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function launch(dir: string, port: number): Promise<ChildProcess> {
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir];
  const child = spawn(PROGRAM, settings, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  const deadline = Date.now() + START_MS;
  while (!output.includes('Ready to accept connections')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${PROGRAM} did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
