import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startObservedCluster } from './harness.js';
import { TroubledLoad, troubledCatalog } from './troubled-load.js';

/** The time range of the dashboards. */
const MINUTES = 8;
const OPERATOR_TOKEN = 'operator-token-of-the-screenshots';
const REPLICAS = { gateway: 3, router: 3, ledger: 3, limiter: 3, retrieval: 3, payments: 3, media: 3 };
const DRAW = fileURLToPath(new URL('../../../../tools/screenshots.mjs', import.meta.url));

/** A collector that accepts and drops everything: exemplars name only traces that are exported. */
async function startCollector(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => void server.close() };
}

it(
  'draws every dashboard of three replicas under load, with data on every panel',
  async () => {
    // Without a browser, the minutes of load would be in vain.
    await promisify(execFile)('chromium', ['--version']);
    const collector = await startCollector();
    const harness = await startObservedCluster(troubledCatalog(), OPERATOR_TOKEN, {
      replicas: REPLICAS,
      everySeconds: 5,
      env: {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
        OTEL_TRACES_SAMPLER_ARG: '0.05',
        SVC_OPERATOR_TOKENS: JSON.stringify([
          {
            name: 'ann',
            scopes: ['read'],
            expires: new Date(Date.now() + 30 * 86_400_000).toISOString(),
            sha256: '0'.repeat(64),
          },
        ]),
      },
    });
    const { prometheus, apiUrl, operatorUrl, chain } = harness;
    try {
      const load = await TroubledLoad.start({ apiUrl, operatorUrl, operatorToken: OPERATOR_TOKEN, chain });
      process.stderr.write(`… load for ${MINUTES} minutes; Prometheus is at ${prometheus.url}\n`);
      await sleep(MINUTES * 60_000);
      const args = [DRAW, prometheus.url, '--minutes', String(MINUTES)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      await load.end();
      expect([...load.seen.keys()]).toEqual(expect.arrayContaining(['clip 200', 'broken-clip 200']));
      expect(stdout).toMatch(/^\d+ panels, 0 without data\n$/);
    } finally {
      await harness.stop();
      collector.close();
    }
  },
  (MINUTES + 10) * 60_000,
);
