// The programs of a deployment and the schemas that read their settings. Needs the build.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { topicsConfig } from '@svc/events';
import { otherwiseOf } from '@svc/runtime';
import { migrationsConfig } from '@svc/storage';
import { catalogCheckConfig } from './catalog.mjs';
import { firstAccountConfig } from './first-account.mjs';

const root = join(import.meta.dirname, '..');

/** Each process: its folder, the module with its settings, their name in it, and a description. */
export const PROCESSES = [
  ['all', 'start', 'settings', 'Every service in one process.'],
  ['api-gateway', 'api-gateway.config', 'apiGatewayConfig', 'The public API and the operator’s.'],
  ['inference-router', 'inference-router.config', 'inferenceRouterConfig', 'Asks backends.'],
  ['billing-ledger', 'billing-ledger.config', 'billingLedgerConfig', 'Owns every balance.'],
  ['rate-limiter', 'rate-limiter.config', 'rateLimiterConfig', 'Owns every limit.'],
  [
    'retrieval-worker',
    'retrieval-worker.config',
    'retrievalWorkerConfig',
    'Reads files, and searches and reads the web.',
  ],
  ['media-worker', 'media-worker.config', 'mediaWorkerConfig', 'Makes videos and music.'],
  ['x402-payments', 'x402-payments.config', 'x402PaymentsConfig', 'Payments.'],
];

/** The settings of one-off commands. */
export const COMMANDS = {
  catalog: catalogCheckConfig,
  migrate: migrationsConfig,
  topics: topicsConfig,
  'first-account': firstAccountConfig,
};

/** The settings of a process by its folder name, or undefined if it is not built. */
export async function settingsOf(app) {
  const [, module, name] = PROCESSES.find(([folder]) => folder === app) ?? [];
  const file = join(root, 'apps', app, 'dist', `${module}.js`);
  return existsSync(file) ? (await import(file))[name] : undefined;
}

/** Whether a process can't start without the setting, or the one that replaces it. */
export const isNeeded = (schema) => !schema.safeParse(undefined).success && !otherwiseOf(schema);
