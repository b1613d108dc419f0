import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../src/server/free-ports.js';

const PROGRAM = 'redis-server';
const ATTEMPTS = 5;
const START_MS = 10_000;

/** A Redis server for one test, initially empty. */
export interface TestRedis {
  readonly url: string;
  readonly pid: number;
  /** `SIGSTOP` and `SIGCONT`, or a signal that kills it. */
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

/** A key and its certificate, as PEM. */
interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Starts `redis-server` on a free local port, without persistence; with an identity, over TLS only. */
export async function startTestRedis(identity?: Identity): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), `svc-test-redis-${process.pid}-`));
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const tls = identity && (await tlsSettings(dir, port, identity));
    const start = (): Promise<ChildProcess> => launch(dir, port, tls);
    try {
      return running({ dir, url: `redis${tls ? 's' : ''}://127.0.0.1:${port}`, start }, await start());
    } catch (error) {
      // Another process may have taken the port meanwhile.
      if (attempt < ATTEMPTS) continue;
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }
}

async function tlsSettings(dir: string, port: number, { key, cert }: Identity): Promise<string[]> {
  const [keyPath, certPath] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  await writeFile(keyPath, key);
  await writeFile(certPath, cert);
  const files = ['--tls-key-file', keyPath, '--tls-cert-file', certPath];
  return ['--port', '0', '--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
}

interface Started {
  readonly dir: string;
  readonly url: string;
  readonly start: () => Promise<ChildProcess>;
}

function running({ dir, url, start }: Started, first: ChildProcess): TestRedis {
  let child = first;
  // A test runner that aborts calls no hooks, so the server is killed when the process exits.
  const abandon = (): void => void child.kill('SIGKILL');
  process.once('exit', abandon);
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    signal: (signal) => void child.kill(signal),
    restart: async () => {
      await ended(child);
      child = await start();
    },
    stop: async () => {
      process.off('exit', abandon);
      child.kill('SIGKILL');
      await ended(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function launch(dir: string, port: number, more: readonly string[] = []): Promise<ChildProcess> {
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir, ...more];
  return launchProgram(settings, 'Ready to accept connections');
}

/** Starts the program, and waits until its log contains a text. */
async function launchProgram(settings: readonly string[], ready: string): Promise<ChildProcess> {
  const child = spawn(PROGRAM, settings, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  const deadline = Date.now() + START_MS;
  while (!output.includes(ready)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${PROGRAM} did not start:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

/** A master and a replica. If the master is gone, a Sentinel makes the replica the master. */
export interface TestSentinel {
  readonly url: string;
  readonly master: TestRedis;
  readonly replica: TestRedis;
  readonly stop: () => Promise<void>;
}

export async function startTestSentinel(): Promise<TestSentinel> {
  const [master, replica] = await Promise.all([startTestRedis(), startTestRedis()]);
  const dir = await mkdtemp(join(tmpdir(), `svc-test-sentinel-${process.pid}-`));
  const port = await freePort();
  const watched = Number(new URL(master.url).port);
  await follow(replica.url, watched);
  const path = join(dir, 'sentinel.conf');
  const lines = [
    `sentinel monitor main 127.0.0.1 ${watched} 1`,
    'sentinel down-after-milliseconds main 2000',
    'sentinel failover-timeout main 3000',
    '',
  ];
  await writeFile(path, lines.join('\n'));
  const settings = [path, '--sentinel', '--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  // It logs each replica that the master has.
  const child = await launchProgram(settings, '+slave slave');
  const abandon = (): void => void child.kill('SIGKILL');
  process.once('exit', abandon);
  return {
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    master,
    replica,
    stop: async () => {
      process.off('exit', abandon);
      child.kill('SIGKILL');
      await ended(child);
      await Promise.all([master.stop(), replica.stop(), rm(dir, { recursive: true, force: true })]);
    },
  };
}

/** Makes a server the replica of another one, and waits until it has its data. */
async function follow(url: string, masterPort: number): Promise<void> {
  const connection = new Redis(url);
  await connection.replicaof('127.0.0.1', masterPort);
  while (!(await connection.info('replication')).includes('master_link_status:up'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  connection.disconnect();
}

/** A local Redis Cluster of three primaries, without persistence or replicas. */
export async function startTestRedisCluster(): Promise<Pick<TestRedis, 'url' | 'stop'>> {
  const nodes = await Promise.all(Array.from({ length: NODES }, startNode));
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const connections = nodes.map(({ port }) => new Redis({ port, host: '127.0.0.1', lazyConnect: true }));
    await formCluster(nodes, connections);
    for (const connection of connections) connection.disconnect();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: nodes.map(({ port }) => `redis://127.0.0.1:${port}`).join(), stop };
}

const NODES = 3;
const SLOTS = 16_384;
const JOIN_MS = 20_000;

interface Node {
  readonly port: number;
  readonly busPort: number;
  stop(): Promise<void>;
}

async function startNode(): Promise<Node> {
  const dir = await mkdtemp(join(tmpdir(), `svc-test-redis-${process.pid}-`));
  const [port, busPort] = [await freePort(), await freePort()];
  const bus = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  // A node without CPU time for this long counts as failed, and the others then refuse its slots.
  const view = ['--cluster-config-file', 'nodes.conf', '--cluster-node-timeout', '15000'];
  const child = await launch(dir, port, [...bus, ...view, '--cluster-announce-ip', '127.0.0.1']);
  const abandon = (): void => void child.kill('SIGKILL');
  process.once('exit', abandon);
  return {
    port,
    busPort,
    stop: async () => {
      process.off('exit', abandon);
      child.kill('SIGKILL');
      await ended(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Divides the slots among the nodes, and waits until every node knows all others. */
async function formCluster(nodes: readonly Node[], connections: readonly Redis[]): Promise<void> {
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [index, redis] of connections.entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last);
    await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
  }
  for (const { port, busPort } of nodes)
    await connections[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
  const deadline = Date.now() + JOIN_MS;
  for (const redis of connections) {
    for (;;) {
      const info = String(await redis.call('CLUSTER', 'INFO'));
      if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)) break;
      if (Date.now() > deadline) throw new Error(`the cluster did not form:\n${info}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
