import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Limiter } from '@svc/contracts/ports';
import { InternalToken, LoggerModule, type Running, createLogger, loadConfig, serve } from '@svc/runtime';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LeasingLimiter } from './counting/renewing-limiter.js';
import { LimiterClientModule } from './limiter-client.module.js';
import { admitRequest } from '../test/admit-request.js';
import { limiterConfig } from './limiter.config.js';
import { LimiterModule } from './limiter.module.js';
import { LimitsApiModule } from './limits-api.module.js';

const LEASE_MS = 2_000;
const TOKEN = 'internal-token-of-the-tests-of-the-limiter';
const logger = createLogger('silent');

/** Nest accepts decorated classes only. */
@Module({})
class Root {}

function root(...imports: (DynamicModule | Type)[]): DynamicModule {
  return { module: Root, imports };
}

type App = Awaited<ReturnType<typeof NestFactory.createApplicationContext>>;

const apps: App[] = [];

async function startApp(limits: DynamicModule | Type): Promise<{ app: App; limiter: Limiter }> {
  const app = await NestFactory.createApplicationContext(root(LoggerModule.of(logger), limits), {
    logger: false,
  });
  apps.push(app);
  return { app, limiter: app.get(Limiter, { strict: false }) };
}

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

it('LimiterModule provides the port, counted in memory', async () => {
  const { app, limiter } = await startApp(LimiterModule);
  const user = { requestsPerMinute: 1_000, tokensPerMinute: 10 };
  const request = admitRequest({ limits: { user }, tokens: 10, concurrent: 1 });
  const admission = await limiter.admit(request);
  expect(admission).toMatchObject({ admitted: true, tightest: { tokens: { remaining: 0 } } });
  expect(limiter.admit({ ...request, requestId: 'at once' }), 'needs no wait').toHaveProperty('admitted');
  expect((await limiter.admit({ ...request, amounts: { requests: 1 } })).refusedBy?.of).toBe('concurrent');
  await limiter.release(request, admission);
  expect((await limiter.admit(request)).admitted).toBe(true);
  await limiter.settle(request, admission, { tokens: 10 });
  expect(await limiter.blocked('ip:1')).toEqual({});
  expect(await limiter.failed('ip:1')).toEqual({});
  expect(app.get(LeasingLimiter, { strict: false }).state()).toMatchObject({
    mode: 'shared',
    localAdmits: 0,
  });
});

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`the limiter modules on Redis${note}`, () => {
  let redis: TestRedis;
  let api: Running;
  beforeAll(async () => {
    redis = await startTestRedis();
    const config = configOf(redis.url);
    api = await serve({
      module: root(LimitsApiModule.redis({ config, token: new InternalToken(TOKEN) })),
      logger,
      api: { host: '127.0.0.1', port: 0 },
    });
  });
  afterAll(async () => {
    await api?.stop();
    await redis?.stop();
  });

  const configOf = (url: string) =>
    loadConfig(limiterConfig, {
      REDIS_URL: url,
      LIMITER_REDIS_WAIT_MS: '20000',
      LIMITER_LEASE_MS: String(LEASE_MS),
    });

  it.each([
    ['LimiterModule.redis', () => LimiterModule.redis(configOf(redis.url))],
    [
      'LimiterClientModule.at',
      () => LimiterClientModule.at({ url: api.apiUrl, token: TOKEN, waitMs: 20_000, leaseMs: LEASE_MS }),
    ],
  ])(
    '%s: a request keeps its place while its process lives, and loses it after the process dies',
    async (_name, limits) => {
      const [owner, other] = [await startApp(limits()), await startApp(limits())];
      const request = admitRequest({ concurrent: 1 });
      expect((await owner.limiter.admit(request)).admitted).toBe(true);
      const next = () => other.limiter.admit({ ...request, requestId: randomUUID() });
      await sleep(2 * LEASE_MS);
      expect((await next()).refusedBy?.of).toBe('concurrent');
      // As if it had died: it stops renewing without a notice.
      await owner.app.close();
      await sleep(LEASE_MS);
      expect((await next()).admitted).toBe(true);
    },
  );

  it('the port over HTTP reaches every part of the limiter', async () => {
    const { app, limiter } = await startApp(
      LimiterClientModule.at({ url: api.apiUrl, token: TOKEN, waitMs: 20_000 }),
    );
    const request = admitRequest({ concurrent: 1 });
    const admission = await limiter.admit(request);
    await limiter.settle(request, admission, { tokens: 5 });
    await limiter.release(request, await limiter.admit(request));
    for (let time = 0; time < 21; time += 1) await limiter.failed('ip:2');
    expect((await limiter.blocked('ip:2')).forMs).toBeGreaterThan(0);
    expect(app.get(LeasingLimiter, { strict: false }).state()).toMatchObject({ mode: 'shared', faults: 0 });
  });

  it('with a wrong token, a process uses its local share, and its state has the reason', async () => {
    const { app, limiter } = await startApp(
      LimiterClientModule.at({ url: api.apiUrl, token: 'another-token-altogether' }),
    );
    expect((await limiter.admit(admitRequest())).countedBy).toBeTypeOf('string');
    const state = app.get(LeasingLimiter, { strict: false }).state();
    expect(state.mode).toBe('local');
    expect(state.reason).toContain('The internal token is missing or wrong.');
  });
});
