import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cluster, type ReplicaProcess, internalTokens } from '@svc/cluster';
import { temporaryInfra } from '@svc/infra';
import type { TestProject } from 'vitest/node';
import { type SharedTarget, openControls } from './controls.js';
import { OPERATOR_TOKEN } from './deployment.js';
import { OfferedFiles, allLogs } from './offered-files.js';

/** The initial configuration, until a test requires another. */
const CATALOG = fileURLToPath(new URL('../../../catalog.yaml', import.meta.url));

const REPLICAS = { gateway: 3, router: 2, ledger: 2, limiter: 2, media: 2 };

/** A failure lists at most this many of the latest events of the processes. */
const MOST_EVENTS = 10;

/** A cluster for each worker of the end-to-end tests. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return openControls(project, { isClustered: true, start: startTarget });
}

/** A cluster on servers of its own. */
async function startTarget(): Promise<SharedTarget> {
  const infra = await temporaryInfra();
  const folder = await mkdtemp(join(tmpdir(), 'svc-cluster-'));
  const logs = join(folder, 'cluster');
  const files = new OfferedFiles(folder);
  await files.write({ catalog: await readFile(CATALOG, 'utf8'), characters: 'characters: []\n' });
  const base = {
    PATH: process.env['PATH'],
    ...files.env,
    // Tests have their own model servers.
    ROUTER_SIMULATOR_URL: 'http://127.0.0.1:9/v1',
    SVC_CATALOG_PRICE_FACTOR: '0',
    // Limits are exact only where they are counted together, which takes as long as the machine is busy.
    LIMITER_WAIT_MS: '30000',
    LIMITER_REDIS_WAIT_MS: '20000',
    // Shows when each process has reloaded its catalogue.
    SVC_LOG_LEVEL: 'info',
  };
  const events: string[] = [];
  const cluster = await Cluster.start({
    shared: { ...(await infra.up()), SVC_OPERATOR_TOKEN: OPERATOR_TOKEN, ...internalTokens() },
    env: base,
    replicas: REPLICAS,
    folder: logs,
    onEvent: (name, what) => events.push(`${name} ${what}`),
  });
  const [gateways, routers] = [cluster.replicas('gateway'), cluster.replicas('router')];
  const of = {
    SVC_CATALOG: [...gateways, ...routers, ...cluster.replicas('retrieval')],
    SVC_CHARACTERS: gateways,
  };
  return {
    configure: async ({ env, ...contents }) => {
      const restart = (): Promise<readonly ReplicaProcess[]> => cluster.rearrange({ ...base, ...env });
      try {
        await files.change(contents, { logs, of, restart });
      } catch (error) {
        // Otherwise a process that does not read its files would fail all later tests.
        await Promise.allSettled(of.SVC_CATALOG.map((service) => service.restart()));
        throw new Error(`${String(error)} (${events.splice(0).slice(-MOST_EVENTS).join('; ')})`, {
          cause: error,
        });
      }
      return {
        apiUrl: cluster.url,
        gatewayUrls: gateways.map(({ port }) => `http://127.0.0.1:${port}`),
        operatorUrl: cluster.operatorUrl,
        mediaDir: join(logs, 'media'),
        env: files.env,
      };
    },
    logs: () => allLogs(logs),
    stop: async () => {
      const killed = await cluster.stop();
      await infra.wipe();
      await rm(folder, { recursive: true, force: true });
      return killed;
    },
  };
}
