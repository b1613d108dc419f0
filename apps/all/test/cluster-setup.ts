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
import type { Arrangement, Target } from './target.js';

const TOKEN = 'operator-token-of-the-tests-of-the-platform';
const INTERNAL_TOKEN = 'internal-token-of-the-tests-of-the-cluster';

/** What it starts with, until a test says what it needs. */
const CATALOG = fileURLToPath(new URL('../../../catalog.yaml', import.meta.url));

const REPLICAS = { gateway: 3, router: 2, ledger: 2, limiter: 2 };

/** Starts a cluster for each worker of the end-to-end tests; each file configures the one of its worker. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = await Promise.all(Array.from({ length: project.config.maxWorkers }, startTarget));
  project.provide(
    'targets',
    started.map(({ target }) => target),
  );
  return async () => {
    const killed = (await Promise.all(started.map(({ stop }) => stop()))).flat();
    if (killed.length > 0)
      throw new Error(`These processes did not stop by themselves: ${killed.join(', ')}`);
  };
}

/** A cluster on servers of its own. `stop` resolves with the names of the processes that had to be killed. */
async function startTarget(): Promise<{ target: Target; stop: () => Promise<readonly string[]> }> {
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
    // Tests have model servers of their own.
    ROUTER_SIMULATOR_URL: 'http://127.0.0.1:9/v1',
  };
  const cluster = await Cluster.start({
    shared: { ...(await infra.up()), SVC_OPERATOR_TOKEN: TOKEN, SVC_INTERNAL_TOKEN: INTERNAL_TOKEN },
    env: base,
    replicas: REPLICAS,
    folder: logs,
  });
  const control = createServer((request, response) => {
    const done = request.method === 'GET' ? readLogs(logs) : rearrange(request);
    done.then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const rearrange = async (request: IncomingMessage): Promise<string> => {
    const { env, catalog, characters } = (await json(request)) as Arrangement;
    await writeFile(files.catalog, catalog);
    await writeFile(files.characters, characters);
    await cluster.rearrange({ ...base, ...env });
    return '';
  };
  control.listen(0, '127.0.0.1');
  await once(control, 'listening');
  const target = {
    apiUrl: cluster.url,
    gatewayUrls: cluster.replicas('gateway').map(({ port }) => `http://127.0.0.1:${port}`),
    operatorUrl: cluster.operatorUrl,
    operatorToken: TOKEN,
    env: { SVC_CATALOG: files.catalog, SVC_CHARACTERS: files.characters },
    controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
  };
  const stop = async (): Promise<readonly string[]> => {
    control.close();
    const killed = await cluster.stop();
    await infra.wipe();
    await rm(folder, { recursive: true, force: true });
    return killed;
  };
  return { target, stop };
}

async function readLogs(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log'));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
}
