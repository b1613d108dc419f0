import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterDeployment } from './cluster-deployment.js';

/** Every secret of the cluster's processes. */
const SECRETS =
  /^(?:SVC_\w+_TOKEN(?:_SECOND)?|DATABASE_URL|REDIS_URL|KAFKA_(?:USERNAME|PASSWORD)|X402_\w+_KEY|OTEL_\w+_HEADERS|\w*SECRET\w*)$/;

/** The environment of a process, as the operating system shows it. */
async function variablesOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8');
  return text.split('\0').flatMap((line) => (line.includes('=') ? [line.slice(0, line.indexOf('='))] : []));
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
    expect(Object.fromEntries(found)).toEqual({
      gateway: ['DATABASE_URL', ...kafka, 'SVC_INTERNAL_TOKEN', 'SVC_OPERATOR_TOKEN'],
      ledger: ['DATABASE_URL', ...kafka, 'REDIS_URL', 'SVC_INTERNAL_TOKEN'],
      limiter: ['REDIS_URL', 'SVC_INTERNAL_TOKEN'],
      media: ['DATABASE_URL', 'SVC_INTERNAL_TOKEN'],
      payments: ['DATABASE_URL', 'SVC_INTERNAL_TOKEN'],
      retrieval: ['REDIS_URL', 'SVC_INTERNAL_TOKEN'],
      router: ['SVC_INTERNAL_TOKEN'],
    });
    for (const server of [platform.infra.kafka, platform.infra.redis])
      for (const pid of await server.pids())
        expect((await variablesOf(pid)).filter((name) => name !== 'HOME' && name !== 'PATH')).toEqual([]);
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
