import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Prometheus } from '@svc/infra';
import { stringify } from 'yaml';
import { Platform } from '../platform.js';
import { METRICS_TOKEN, startSale } from './harness.js';
import { troubledCatalog } from './troubled-load.js';

export const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined;

/** Everything in one process, with a Prometheus that scrapes it. */
export async function startObservedPlatform() {
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
  return { apiUrl, operatorUrl, chain, platform, prometheus, stop };
}
