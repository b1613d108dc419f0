import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { BackendPool } from '@svc/backend-calls';
import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { ChunkStream } from '@svc/contracts/inference';
import { type PodSlots, createLogger } from '@svc/runtime';
import { expect } from 'vitest';
import type { RouterSettings } from '../src/router.config.js';
import { LocalRouter } from '../src/local-router.js';
import type { CheckSettings } from '../src/nodes/node-checks.js';

interface TestModel {
  readonly id: string;
  readonly backends: readonly object[];
  readonly capabilities?: object;
  readonly extraFields?: readonly string[];
}

export function catalogFile(...models: readonly TestModel[]): CatalogFile {
  const limits = { requestsPerMinute: 1, tokensPerMinute: 1 };
  return CatalogFile.parse({
    models: models.map((model) => ({
      name: model.id,
      contextTokens: 1_000,
      maxCompletionTokens: 100,
      pricing: { input: 1, output: 1 },
      ...model,
    })),
    tiers: { L: { standard: limits } },
  });
}

/** A catalogue with a model `m` whose backends are called in this order with near certainty. */
export function catalogOf(urls: readonly string[]): Catalog {
  const backends = urls.map((url, at) => ({ url, model: `backend-${at}`, weight: 1e-9 ** at }));
  return new Catalog(catalogFile({ id: 'm', backends }));
}

/** A URL at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}/v1`;
}

/** Short deadlines. */
export function quickSettings(settings: Partial<RouterSettings> = {}): RouterSettings {
  return {
    ROUTER_CONNECT_TIMEOUT_MS: 1_000,
    ROUTER_FIRST_CHUNK_TIMEOUT_MS: 2_000,
    ROUTER_STREAM_IDLE_TIMEOUT_MS: 1_500,
    ROUTER_STREAM_TIMEOUT_MS: 60_000,
    ROUTER_COMPLETE_TIMEOUT_MS: 5_000,
    ROUTER_TRANSCRIPTION_TIMEOUT_MS: 5_000,
    ROUTER_IMAGE_TIMEOUT_MS: 5_000,
    ROUTER_IMAGE_LIMIT_BYTES: 1_048_576,
    ROUTER_QUEUE_TIMEOUT_MS: 100,
    ROUTER_COOL_DOWN_MS: 60_000,
    ROUTER_ATTEMPT_TIMEOUT_MS: 60_000,
    // Hardly ever, so that tests can count requests.
    ROUTER_CHECK_MS: 86_400_000,
    ROUTER_RESPONSE_LIMIT_BYTES: 16 * 1024 * 1024,
    ROUTER_STREAM_LIMIT_BYTES: 64 * 1024 * 1024,
    ROUTER_GOOGLE_METADATA_URL: 'http://127.0.0.1:9',
    ROUTER_PROXY_EXCEPT: '',
    secret: () => undefined,
    ...settings,
  };
}

/** A router with short deadlines. */
export function quickRouter(
  catalog: Catalog,
  settings: Partial<RouterSettings & CheckSettings> = {},
  addressesOf?: (hostname: string) => PodSlots,
): { router: LocalRouter; stop: () => Promise<void> } {
  const { ROUTER_PROXY_URL: url } = settings;
  const proxy = url === undefined ? undefined : { url, except: '' };
  const pool = new BackendPool(1_000, undefined, addressesOf, proxy);
  const quick = { log: createLogger('silent'), ...settings, ...quickSettings(settings) };
  const router = new LocalRouter(catalog, pool, quick);
  router.nodeChecks.start();
  const stop = async (): Promise<void> => {
    router.nodeChecks.stop();
    router.health.stop();
    await pool.close();
  };
  return { router, stop };
}

/** A router whose deadlines no test reaches, however slow the machine is. */
export const patientRouter: typeof quickRouter = (catalog, settings, addressesOf) =>
  quickRouter(catalog, { ...PATIENT, ...settings }, addressesOf);

const PATIENT = {
  ROUTER_CONNECT_TIMEOUT_MS: 30_000,
  ROUTER_FIRST_CHUNK_TIMEOUT_MS: 30_000,
  ROUTER_STREAM_IDLE_TIMEOUT_MS: 30_000,
  ROUTER_COMPLETE_TIMEOUT_MS: 30_000,
};

/** The whole text of a stream. Each piece of it must have at least one chunk. */
export async function collect({ bytes }: ChunkStream): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const arrived of bytes) {
    expect(arrived.length).toBeGreaterThan(0);
    parts.push(...arrived);
  }
  return Buffer.concat(parts).toString();
}

export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
