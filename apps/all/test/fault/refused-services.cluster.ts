import { fileURLToPath } from 'node:url';
import { startTestDatabase } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { describe, expect, it, onTestFinished } from 'vitest';

const TOKEN = 'x'.repeat(40);

/** Addresses without a listener. */
const NOBODY = 'http://127.0.0.1:2';
const SETTINGS = {
  PORT: '0',
  OPERATOR_PORT: '0',
  SVC_INTERNAL_TOKEN: TOKEN,
  SVC_OPERATOR_TOKEN: TOKEN,
  DATABASE_URL: 'postgres://svc:secret@127.0.0.1:9/svc',
  DATABASE_START_WAIT_MS: '2000',
  REDIS_URL: 'redis://:secret@127.0.0.1:9',
  KAFKA_BROKERS: '127.0.0.1:9',
  LEDGER_URL: NOBODY,
  LIMITER_URL: NOBODY,
  ROUTER_URL: NOBODY,
  RETRIEVAL_URL: NOBODY,
  MEDIA_S3_URL: NOBODY,
  MEDIA_S3_BUCKET: 'media',
  MEDIA_S3_ACCESS_KEY_ID: 'key',
  MEDIA_S3_SECRET_ACCESS_KEY: 'secret',
};

const APPS = [
  'api-gateway',
  'billing-ledger',
  'inference-router',
  'rate-limiter',
  'retrieval-worker',
  'x402-payments',
  'media-worker',
];

function started(app: string, env: Readonly<Record<string, string>>): RunningProcess {
  const main = fileURLToPath(new URL(`../../../${app}/dist/main.js`, import.meta.url));
  const service = RunningProcess.spawn({ main, env: { PATH: process.env['PATH'] ?? '', ...env } });
  onTestFinished(async () => {
    await service.stop('SIGKILL');
  });
  return service;
}

const lines = (service: RunningProcess): string[] => service.output.trimEnd().split('\n');

describe.each(APPS)('%s', (app) => {
  it('reports in one line that Node is too old', async () => {
    const script = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
    const old = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const service = started(app, { ...SETTINGS, NODE_OPTIONS: old });
    expect(await service.ended()).toBe(1);
    expect(lines(service)).toEqual([
      expect.stringMatching(/^This program needs Node 26 or newer, but runs on v/),
    ]);
  });

  it('lists each required setting on a line, with its description', async () => {
    const service = started(app, {});
    expect(await service.ended()).toBe(1);
    expect(service.output).toContain('_TOKEN is not set, and neither is SVC_INTERNAL_TOKEN.');
    for (const line of lines(service))
      expect(line).toMatch(/^[A-Z][A-Z\d_]+ is not set(, and neither is [A-Z_]+)?\. [A-Z]/);
  });
});

describe('without servers', () => {
  it.each(['billing-ledger', 'x402-payments'])(
    '%s waits for PostgreSQL as long as its setting allows, and exits with one line',
    async (app) => {
      const service = started(app, SETTINGS);
      expect(await service.ended()).toBe(1);
      const [waiting, ...ended] = lines(service);
      expect(waiting).toContain('The database at 127.0.0.1:9 cannot be reached yet; retrying for 2 s');
      expect(ended).toEqual([
        expect.stringMatching(/^The database at 127\.0\.0\.1:9 could not be reached within 2 s: /),
      ]);
      expect(service.output).not.toContain('secret');
    },
  );

  it.each([
    ['rate-limiter', 'limiter: cannot connect to Redis, retrying'],
    ['retrieval-worker', 'retrieval: cannot connect to Redis, retrying'],
    ['api-gateway', 'Not ready yet: ledger: connect ECONNREFUSED 127.0.0.1:2; router: '],
  ])('%s keeps running, and logs what it waits for', async (app, line) => {
    const service = started(app, SETTINGS);
    await service.matching(new RegExp(line.replaceAll('.', '\\.')));
    expect(service.output).not.toContain('secret');
    expect(service.exitCode).toBeNull();
  });

  it('the ledger logs that it waits for Kafka, and for Redis', async () => {
    const database = await startTestDatabase();
    onTestFinished(() => database.stop());
    const service = started('billing-ledger', { ...SETTINGS, DATABASE_URL: database.url });
    await service.matching(/cannot connect to Redis, retrying/);
    await service.matching(/are the brokers of KAFKA_BROKERS up/);
    expect(service.exitCode).toBeNull();
  });

  it('the media worker logs that its storage server is away, and waits for PostgreSQL', async () => {
    const service = started('media-worker', SETTINGS);
    await service.matching(/the storage server of videos and music does not respond/);
    await service.matching(/The database at 127\.0\.0\.1:9 cannot be reached yet/);
    expect(service.output).not.toContain('secret');
  });

  it('the router starts, since it depends on no other service', async () => {
    const service = started('inference-router', SETTINGS);
    await service.matching(/^inference-router listening on http/m);
    expect(service.exitCode).toBeNull();
  });
});
