import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environments } from './environment.js';
import { OWN_CHECKOUT, internalTokens, kinds } from './kinds.js';

const CATALOG = `
models:
  - id: m
    name: M
    tier: XS
    contextTokens: 1000
    maxCompletionTokens: 100
    pricing: { input: 1, output: 1 }
    backends: [{ url: 'http://127.0.0.1:9/v1', model: m, apiKeyEnv: BACKEND_KEY }]
search:
  providers: [{ kind: brave, apiKeyEnv: SEARCH_KEY }]
tiers: { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-environment-'));
  await writeFile(join(folder, 'catalog.yaml'), CATALOG);
});
afterAll(() => rm(folder, { recursive: true }));

it('gives each kind of process the secrets that it reads, and no others', async () => {
  const secrets = [
    ...Object.keys(internalTokens()),
    'SVC_OPERATOR_TOKEN',
    'SVC_METRICS_TOKEN',
    'DATABASE_URL',
    'REDIS_URL',
    'KAFKA_PASSWORD',
    'X402_EVM_SIGNER_KEY',
    'X402_SOLANA_SIGNER_KEY',
    'BACKEND_KEY',
    'SEARCH_KEY',
    'AWS_SECRET_ACCESS_KEY',
  ];
  const env = {
    PATH: '/bin',
    SVC_CATALOG: join(folder, 'catalog.yaml'),
    ...Object.fromEntries(secrets.map((name) => [name, 'secret'])),
  };
  const ownOf = await environments(OWN_CHECKOUT);
  const given = await Promise.all(
    kinds.map(async (kind) => {
      const own = await ownOf(kind, env);
      expect(own['PATH']).toBe('/bin');
      return [kind, secrets.filter((name) => own[name] !== undefined)] as const;
    }),
  );
  const metrics = 'SVC_METRICS_TOKEN';
  expect(Object.fromEntries(given)).toEqual({
    simulator: [],
    limiter: ['LIMITER_TOKEN', metrics, 'REDIS_URL'],
    router: ['ROUTER_TOKEN', 'GATEWAY_TOKEN', metrics, 'BACKEND_KEY'],
    retrieval: ['RETRIEVAL_TOKEN', 'GATEWAY_TOKEN', metrics, 'REDIS_URL', 'SEARCH_KEY'],
    media: ['ROUTER_TOKEN', 'LEDGER_TOKEN', 'MEDIA_JOBS_TOKEN', metrics, 'DATABASE_URL'],
    payments: [
      'PAYMENTS_TOKEN',
      'LEDGER_TOKEN',
      metrics,
      'DATABASE_URL',
      'REDIS_URL',
      'X402_EVM_SIGNER_KEY',
      'X402_SOLANA_SIGNER_KEY',
    ],
    ledger: ['LEDGER_TOKEN', metrics, 'DATABASE_URL', 'REDIS_URL', 'KAFKA_PASSWORD'],
    gateway: [
      ...Object.keys(internalTokens()),
      'SVC_OPERATOR_TOKEN',
      metrics,
      'DATABASE_URL',
      'REDIS_URL',
      'KAFKA_PASSWORD',
    ],
  });
});
