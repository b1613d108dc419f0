import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { internalTokens, kinds } from '@svc/cluster';
import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterDeployment } from './cluster-deployment.js';

/** Every secret of the cluster's processes. */
const SECRETS =
  /^(?:[A-Z_]+_TOKEN(?:_SECOND)?|DATABASE_URL|REDIS_URL|KAFKA_(?:USERNAME|PASSWORD)|X402_\w+_KEY|OTEL_\w+_HEADERS|\w*SECRET\w*)$/;

/** The environment of a process, as the operating system shows it. */
async function variablesOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8');
  return text.split('\0').flatMap((line) => (line.includes('=') ? [line.slice(0, line.indexOf('='))] : []));
}

/** Every value in the environment of a process that could be a token. */
async function secretsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8');
  const values = text.split('\0').map((line) => line.slice(line.indexOf('=') + 1));
  return [...new Set(values)].filter((value) => /^[\x21-\x7e]{32,200}$/.test(value));
}

/** Whether one of these values admits a call of a route. An admitted call without a body changes nothing. */
async function isOpened(
  { method, path }: RouteDefinition,
  origin: string,
  values: readonly string[],
): Promise<boolean> {
  const statuses = await Promise.all(
    values.map(async (value) => {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${value}` },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return statuses.some((status) => status !== 401 && status !== 404);
}

let platform: ClusterDeployment;

beforeAll(async () => {
  platform = await ClusterDeployment.start(
    {},
    { AWS_SECRET_ACCESS_KEY: 'of the user who starts the cluster' },
  );
}, 180_000);
afterAll(async () => {
  await platform.stop();
}, 120_000);

describe.runIf(process.platform === 'linux')('secrets of a cluster', () => {
  it('are only in the environment of the processes that use them', async () => {
    const found = await Promise.all(
      platform.cluster.all.map(async ({ name, pid = 0 }) => {
        const secrets = (await variablesOf(pid)).filter((variable) => SECRETS.test(variable));
        return [name.replace(/-\d+$/, ''), secrets.toSorted()] as const;
      }),
    );
    const kafka = ['KAFKA_PASSWORD', 'KAFKA_USERNAME'];
    const tokens = Object.keys(internalTokens()).toSorted();
    expect(Object.fromEntries(found)).toEqual({
      gateway: ['DATABASE_URL', 'REDIS_URL', ...kafka, 'SVC_OPERATOR_TOKEN', ...tokens].toSorted(),
      ledger: ['DATABASE_URL', ...kafka, 'LEDGER_TOKEN', 'REDIS_URL'],
      limiter: ['LIMITER_TOKEN', 'REDIS_URL'],
      media: ['DATABASE_URL', 'LEDGER_TOKEN', 'MEDIA_JOBS_TOKEN', 'ROUTER_TOKEN'],
      payments: ['DATABASE_URL', 'LEDGER_TOKEN', 'PAYMENTS_TOKEN', 'REDIS_URL'],
      // Both read the catalogue from gateways.
      retrieval: ['GATEWAY_TOKEN', 'REDIS_URL', 'RETRIEVAL_TOKEN'],
      router: ['GATEWAY_TOKEN', 'ROUTER_TOKEN'],
    });
    for (const server of [platform.infra.kafka, platform.infra.redis])
      for (const pid of await server.pids())
        expect((await variablesOf(pid)).filter((name) => name !== 'HOME' && name !== 'PATH')).toEqual([]);
  });

  it('of a process open the internal routes of the services that it calls, and of no other service', async () => {
    const guarded = Object.values(routes).filter(
      ({ access }) => access === 'internal' || access === 'process',
    );
    const opened = await Promise.all(
      platform.cluster.all.map(async ({ name, pid = 0 }) => {
        const values = await secretsOf(pid);
        const services = new Set<string>();
        for (const route of guarded)
          for (const kind of kinds)
            for (const { port } of kind === 'simulator' ? [] : platform.cluster.replicas(kind))
              if (await isOpened(route, `http://127.0.0.1:${port}`, values)) services.add(kind);
        return [name.replace(/-\d+$/, ''), [...services].toSorted()] as const;
      }),
    );
    expect(Object.fromEntries(opened)).toEqual({
      gateway: ['gateway', 'ledger', 'limiter', 'media', 'payments', 'retrieval', 'router'],
      ledger: ['ledger'],
      limiter: ['limiter'],
      media: ['ledger', 'media', 'router'],
      payments: ['ledger', 'payments'],
      retrieval: ['gateway', 'retrieval'],
      router: ['gateway', 'router'],
    });
  });

  it('are in files that only their owner can read', async () => {
    const {
      KAFKA_PASSWORD: kafka = '',
      REDIS_URL: redis = '',
      DATABASE_URL: database = '',
    } = platform.servers;
    const passwords = [kafka, new URL(redis).password, new URL(database).password];
    expect(passwords).toEqual(passwords.map(() => expect.stringMatching(/^[0-9a-f]{48}$/)));
    const holders = await filesWith(platform.infra.folder, passwords);
    expect(holders.length).toBeGreaterThanOrEqual(passwords.length);
    for (const path of holders) expect([path, (await stat(path)).mode & 0o077]).toEqual([path, 0]);
    const arguments_ = await Promise.all(
      (await platform.infra.redis.pids()).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')),
    );
    for (const password of passwords) expect(arguments_.join()).not.toContain(password);
    expect((await stat(platform.folder)).mode & 0o077).toBe(0);
  });
});

/** The files in a folder that contain one of these texts; the servers' data is in separate folders. */
async function filesWith(folder: string, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'data' && !(await exists(join(path, 'PG_VERSION'))))
        found.push(...(await filesWith(path, texts)));
    } else if (entry.isFile()) {
      const content = await readFile(path, 'utf8');
      if (texts.some((text) => content.includes(text))) found.push(path);
    }
  }
  return found;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
