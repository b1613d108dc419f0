import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Cluster } from '@svc/cluster';
import { temporaryInfra } from '@svc/infra';
import type { TestProject } from 'vitest/node';
import { OPERATOR_TOKEN } from './deployment.js';
import type { Arrangement, Deployed } from './target.js';

const INTERNAL_TOKEN = 'internal-token-of-the-tests-of-the-cluster';

/** The initial configuration, until a test requires another. */
const CATALOG = fileURLToPath(new URL('../../../catalog.yaml', import.meta.url));

const REPLICAS = { gateway: 3, router: 2, ledger: 2, limiter: 2, media: 2 };

/**
 * A cluster for each worker of the end-to-end tests. Each is started when the first file of its worker needs
 * it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const controls = await Promise.all(Array.from({ length: project.config.maxWorkers }, openControl));
  project.provide(
    'controlUrls',
    controls.map(({ url }) => url),
  );
  return async () => {
    const killed = (await Promise.all(controls.map(({ close }) => close()))).flat();
    if (killed.length > 0)
      throw new Error(`These processes did not stop by themselves: ${killed.join(', ')}`);
  };
}

interface RunningTarget {
  readonly configure: (wanted: Arrangement) => Promise<Deployed>;
  readonly logs: () => Promise<string>;
  /** Resolves with the names of the processes that had to be killed. */
  readonly stop: () => Promise<readonly string[]>;
}

/** The server by which a worker controls its cluster. */
async function openControl(): Promise<{ url: string; close: () => Promise<readonly string[]> }> {
  let started: Promise<RunningTarget> | undefined;
  const respond = async (request: IncomingMessage): Promise<string> => {
    const target = await (started ??= startTarget());
    if (request.method === 'GET') return target.logs();
    return JSON.stringify(await target.configure((await json(request)) as Arrangement));
  };
  const server = createServer((request, response) => {
    respond(request).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<readonly string[]> => {
    server.close();
    return started ? (await started).stop() : [];
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** A cluster on servers of its own. */
async function startTarget(): Promise<RunningTarget> {
  const infra = await temporaryInfra();
  const folder = await mkdtemp(join(tmpdir(), 'svc-cluster-'));
  const logs = join(folder, 'cluster');
  const files = { catalog: join(folder, 'catalog.yaml'), characters: join(folder, 'characters.yaml') };
  await copyFile(CATALOG, files.catalog);
  await writeFile(files.characters, 'characters: []\n');
  const base = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_CATALOG: files.catalog,
    SVC_CHARACTERS: files.characters,
    // Tests have their own model servers.
    ROUTER_SIMULATOR_URL: 'http://127.0.0.1:9/v1',
  };
  const cluster = await Cluster.start({
    shared: { ...(await infra.up()), SVC_OPERATOR_TOKEN: OPERATOR_TOKEN, SVC_INTERNAL_TOKEN: INTERNAL_TOKEN },
    env: base,
    replicas: REPLICAS,
    folder: logs,
  });
  return {
    configure: async ({ env, catalog, characters }) => {
      await writeFile(files.catalog, catalog);
      await writeFile(files.characters, characters);
      await cluster.rearrange({ ...base, ...env });
      return {
        apiUrl: cluster.url,
        gatewayUrls: cluster.replicas('gateway').map(({ port }) => `http://127.0.0.1:${port}`),
        operatorUrl: cluster.operatorUrl,
        mediaDir: join(logs, 'media'),
        env: { SVC_CATALOG: files.catalog, SVC_CHARACTERS: files.characters },
      };
    },
    logs: () => readLogs(logs),
    stop: async () => {
      const killed = await cluster.stop();
      await infra.wipe();
      await rm(folder, { recursive: true, force: true });
      return killed;
    },
  };
}

async function readLogs(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
}
