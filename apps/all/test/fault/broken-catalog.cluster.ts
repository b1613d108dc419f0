// Processes of a cluster have no data of their own: a replaced pod finds the last good files where they are.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind } from '@svc/cluster';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../deployment.js';
import { ClusterDeployment } from './cluster-deployment.js';

const METRICS_TOKEN = 'metrics-token-of-the-tests-of-the-cluster';
const TEST = { timeout: 180_000 };

/** A file is polled every 2 s, and a log is written with a delay. */
const SOON = { timeout: 30_000 };

/** The processes that read the catalogue. */
const READERS: readonly Kind[] = ['gateway', 'router', 'retrieval'];
const READING_APPS = ['api-gateway', 'inference-router', 'retrieval-worker'];

const SAYS = 'the file is invalid; the last good version is in force';

let platform: ClusterDeployment;
let account: TestAccount;
let catalog: string;

beforeAll(async () => {
  platform = await ClusterDeployment.start({ router: 2, gateway: 2 }, { SVC_METRICS_TOKEN: METRICS_TOKEN });
  account = await platform.account();
  catalog = await readFile(pathOf('catalog.yaml'), 'utf8');
}, 180_000);
afterAll(async () => {
  await platform.stop();
}, 120_000);

const pathOf = (name: string): string => join(platform.folder, name);

/** The number of times that a process has said so. */
async function warningsOf(name: string): Promise<number> {
  return (await readFile(pathOf(`${name}.log`), 'utf8')).split(SAYS).length - 1;
}

const restart = (kinds: readonly Kind[]): Promise<unknown> =>
  Promise.all(kinds.flatMap((kind) => platform.cluster.replicas(kind)).map((process) => process.restart()));

const answers = async (): Promise<number> =>
  (
    await platform.chat(account.apiKey, {
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hello' }],
    })
  ).status;

/** A metric of each process that reads the catalogue. */
async function metrics(name: string): Promise<(string | undefined)[]> {
  const readers = platform.cluster.metrics.filter(({ job }) => READING_APPS.includes(job));
  return Promise.all(
    readers.map(async ({ address }) => {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
      const text = await (await fetch(`http://${address}/metrics`, { headers })).text();
      return new RegExp(`^${name}(?:\\{.*\\})? .*$`, 'm').exec(text)?.[0];
    }),
  );
}

const unique = (values: readonly (string | undefined)[]): (string | undefined)[] => [...new Set(values)];

describe('a cluster whose files are broken', () => {
  it.each([
    ['a router', ['router']],
    ['a gateway', ['gateway']],
    ['a retrieval worker', ['retrieval']],
    ['every process', READERS],
  ] as const)('responds after a restart of %s, which says what is in force', TEST, async (_, kinds) => {
    const names = kinds.flatMap((kind) => platform.cluster.replicas(kind)).map(({ name }) => name);
    const before = await Promise.all(names.map(warningsOf));
    const inForce = unique(await metrics('svc_catalog_info'));
    expect(inForce).toEqual([expect.stringMatching(/^svc_catalog_info\{hash="\w{16}"\} 1$/)]);
    await writeFile(pathOf('catalog.yaml'), 'models: [');
    await writeFile(pathOf('characters.yaml'), 'characters: 3');
    await restart(kinds);
    await platform.cluster.ready();
    expect(await answers()).toBe(200);
    const silent = async (): Promise<string[]> => {
      const counts = await Promise.all(names.map(warningsOf));
      return names.filter((__, at) => counts[at] === before[at]);
    };
    await expect.poll(silent, SOON).toEqual([]);
    expect(unique(await metrics('svc_catalog_info'))).toEqual(inForce);
    await expect
      .poll(async () => unique(await metrics('svc_catalog_invalid')), SOON)
      .toEqual(['svc_catalog_invalid 1']);
    await writeFile(pathOf('catalog.yaml'), catalog);
    await writeFile(pathOf('characters.yaml'), 'characters: []\n');
    await expect
      .poll(async () => unique(await metrics('svc_catalog_invalid')), SOON)
      .toEqual(['svc_catalog_invalid 0']);
  });

  it('shows the catalogue only to holders of the internal token', async () => {
    const [gateway] = platform.cluster.replicas('gateway');
    const url = `http://127.0.0.1:${gateway?.port}/internal/v1/catalog`;
    const status = async (token: string): Promise<number> =>
      (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
    const { GATEWAY_TOKEN: internal = '', SVC_OPERATOR_TOKEN: operator = '' } = platform.settings;
    expect(await status(internal)).toBe(200);
    for (const token of [operator, account.apiKey, METRICS_TOKEN, `${internal}x`, ''])
      expect(await status(token)).toBe(401);
  });
});
