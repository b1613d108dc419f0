import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Prometheus } from '@svc/infra';
import { describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN } from '../platform.js';
import { startObservedCluster } from './harness.js';
import { hasPrometheus, startObservedPlatform } from './observed-platform.js';
import { type PlatformAddresses, TroubledLoad, troubledCatalog } from './troubled-load.js';

const ASK = fileURLToPath(new URL('../../../../tools/observe/ask.mjs', import.meta.url));
const TEST_MS = 600_000;

const note = hasPrometheus ? '' : ' (SKIPPED: there is no prometheus on the PATH)';

/** The faults that `ask.mjs` finds with a Prometheus that scrapes a deployment under load. */
async function checkUnderLoad(
  shape: 'all' | 'cluster',
  prometheus: Prometheus,
  addresses: PlatformAddresses,
): Promise<string> {
  const load = await TroubledLoad.start(addresses);
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

describe.skipIf(!hasPrometheus)(`every query of every panel and every alert${note}`, () => {
  it.each([
    ['all', startObservedPlatform],
    ['cluster', () => startObservedCluster(troubledCatalog(), OPERATOR_TOKEN)],
  ] as const)(
    'returns data with the expected sign with %s',
    async (shape, start) => {
      const harness = await start();
      const { apiUrl, operatorUrl, chain, prometheus } = harness;
      try {
        const addresses = { apiUrl, operatorUrl, operatorToken: OPERATOR_TOKEN, chain };
        expect(await checkUnderLoad(shape, prometheus, addresses)).toMatch(/^\d+ queries, 0 faults\n$/);
      } finally {
        await harness.stop();
      }
    },
    TEST_MS,
  );
});
