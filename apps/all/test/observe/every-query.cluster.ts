import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Prometheus } from '@svc/infra';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { METRICS_TOKEN, startObservedCluster, startSale } from './harness.js';
import { type PlatformAddresses, TroubledLoad, troubledCatalog } from './troubled-load.js';

const ASK = fileURLToPath(new URL('../../../../tools/observe/ask.mjs', import.meta.url));
const TEST_MS = 600_000;

const isThere = spawnSync('prometheus', ['--version']).error === undefined;
const note = isThere ? '' : ' (SKIPPED: there is no prometheus on the PATH)';

/** The faults that `ask.mjs` finds with a Prometheus that scrapes a deployment under load. */
async function askedUnderLoad(
  shape: 'all' | 'cluster',
  prometheus: Prometheus,
  asked: PlatformAddresses,
): Promise<string> {
  const load = await TroubledLoad.start(asked);
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [ASK, prometheus.url, shape], (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
  } finally {
    await load.end();
  }
}

/** Everything in one process, with a Prometheus that scrapes it. */
async function startObservedPlatform() {
  const { chain, env } = await startSale();
  const platform = await Platform.start({
    env: { ...env, SVC_METRICS_TOKEN: METRICS_TOKEN },
    catalogText: stringify(troubledCatalog()),
  });
  const folder = await mkdtemp(join(tmpdir(), 'svc-observe-'));
  const { apiUrl, operatorUrl } = platform;
  const processes = [{ job: 'all', address: new URL(operatorUrl).host }];
  const prometheus = await Prometheus.start({ folder, processes, token: METRICS_TOKEN, everySeconds: 1 });
  const stop = async (): Promise<void> => {
    await prometheus.stop();
    await platform.stop();
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { apiUrl, operatorUrl, chain, prometheus, stop };
}

describe.skipIf(!isThere)(`every query of every panel and every alert${note}`, () => {
  it.each([
    ['all', startObservedPlatform],
    ['cluster', () => startObservedCluster(troubledCatalog(), OPERATOR_TOKEN)],
  ] as const)(
    'returns data with the expected sign with %s',
    async (shape, start) => {
      const harness = await start();
      const { apiUrl, operatorUrl, chain, prometheus } = harness;
      try {
        const asked = { apiUrl, operatorUrl, operatorToken: OPERATOR_TOKEN, chain };
        expect(await askedUnderLoad(shape, prometheus, asked)).toMatch(/^\d+ queries, 0 faults\n$/);
      } finally {
        await harness.stop();
      }
    },
    TEST_MS,
  );
});
