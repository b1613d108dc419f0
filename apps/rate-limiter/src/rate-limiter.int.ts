import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { routes } from '@svc/api';
import { FallbackLimiter, HttpLimiter } from '@svc/limiter';
import { admitRequest, limiterConformance } from '@svc/limiter/testing';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const TOKEN = 'internal-token-of-the-tests-of-the-limiter';

let redis: TestRedis;

/** The real process, with timeouts that a busy machine does not exceed. */
async function startProcess(
  env: Record<string, string> = {},
): Promise<{ service: RunningProcess; url: string }> {
  const { service, match } = await RunningProcess.start(
    {
      main: MAIN,
      env: {
        PORT: '0',
        REDIS_URL: redis.url,
        LIMITER_TOKEN: TOKEN,
        LIMITER_REDIS_WAIT_MS: '20000',
        ...env,
      },
    },
    /listening on (http:\S+)/,
  );
  return { service, url: match[1] ?? '' };
}

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`rate-limiter${note}`, () => {
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  limiterConformance({
    name: 'the port over HTTP',
    start: async (times) => {
      const env = Object.entries({
        LIMITER_LEASE_MS: times.leaseMs,
        LIMITER_FAILURE_WINDOW_MS: times.failureWindowMs,
        LIMITER_FAILURE_BLOCK_MS: times.failureBlockMs,
      }).flatMap(([setting, ms]) => (ms === undefined ? [] : [[setting, String(ms)]]));
      const { service, url } = await startProcess(Object.fromEntries(env) as Record<string, string>);
      const limiter = new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 });
      return {
        limiter,
        pass: (ms) => sleep(ms),
        stop: async () => {
          await limiter.close();
          assert.equal(await service.stop(), 0);
        },
      };
    },
  });

  describe('the process', () => {
    let service: RunningProcess;
    let url: string;
    beforeAll(async () => {
      ({ service, url } = await startProcess());
    });
    afterAll(() => service?.stop());

    const post = (path: string, body: unknown, authorization?: string): Promise<Response> =>
      fetch(url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
      });

    it.each([
      ['no token', undefined],
      ['a wrong token', 'Bearer wrong'],
      ['a token with something after it', `Bearer ${TOKEN}x`],
    ])('refuses %s with a 401 and counts nothing', async (_what, authorization) => {
      const request = admitRequest();
      const calls = [{ method: 'admit', arguments: [request] }];
      const response = await post(routes.callLimits.path, { calls }, authorization);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({
        error: { message: 'The internal token is missing or wrong.' },
      });
      expect((await fetch(url + routes.limitsState.path)).status).toBe(401);
      const limiter = new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 });
      const { requests } = (await limiter.admit(request)).tightest;
      expect(requests && requests.limit - requests.remaining).toBe(1);
      await limiter.close();
    });

    it.each<[string, ...unknown[]]>([
      ['admit', { ...admitRequest(), amounts: { tokens: -1 } }],
      ['admit', { ...admitRequest(), amounts: { tokens: 1.5 } }],
      ['admit', { ...admitRequest(), accountId: '' }],
      ['settle', admitRequest()],
      ['release', {}],
      ['renew', Array(1_001).fill({ requestId: 'a', accountId: 'b' })],
      ['failed', 'x'.repeat(301)],
      ['state'],
    ])('refuses a malformed call of %s and processes the rest of the batch', async (method, ...given) => {
      const calls = [
        { method, arguments: given },
        { method: 'blocked', arguments: ['ip:1'] },
      ];
      const response = await post(routes.callLimits.path, { calls }, `Bearer ${TOKEN}`);
      const lines = (await response.text()).trim().split('\n');
      const entries = lines.map((line) => JSON.parse(line) as { at: number }).toSorted((a, b) => a.at - b.at);
      expect(entries).toEqual([
        { at: 0, problem: expect.objectContaining({ code: 'INVALID_REQUEST' }) },
        { at: 1, value: {} },
      ]);
    });

    it('rejects the calls of an older version, whose process then decides from its local share', async () => {
      const older = new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 });
      const { limits: _limits, amounts: _amounts, resource: _resource, ...rest } = admitRequest();
      const limits = { user: { requestsPerMinute: 8, tokensPerMinute: 100 } };
      const admit = older.admit.bind(older);
      older.admit = (request) =>
        admit({ ...rest, requestId: request.requestId, model: 'm', limits, tokens: 1 } as never);
      const options = { to: url, waitMs: 20_000, leaseMs: 60_000, local: { share: 0.25, nowMs: () => 0 } };
      const limiter = new FallbackLimiter(older, options, { warn: () => undefined });
      await limiter.onModuleInit();
      const like = admitRequest({ limits });
      const admissions = [];
      for (let at = 0; at < 10; at += 1)
        admissions.push(await limiter.admit({ ...like, requestId: `${at}` }));
      await limiter.onModuleDestroy();
      expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(2);
      expect(admissions.filter(({ countedBy }) => countedBy === undefined)).toEqual([]);
    });

    it('is not considered down by a caller that is too busy to read its responses', async () => {
      const shared = new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 });
      const options = { to: url, waitMs: 500, leaseMs: 60_000, local: { share: 0.25 } };
      const limiter = new FallbackLimiter(shared, options, { warn: () => undefined });
      await limiter.onModuleInit();
      let isBusy = true;
      const keepBusy = (): void => {
        const untilMs = performance.now() + 400;
        while (performance.now() < untilMs);
        if (isBusy) setImmediate(keepBusy);
      };
      setImmediate(keepBusy);
      const admissions = await Promise.all([1, 2, 3].map(() => limiter.admit(admitRequest())));
      isBusy = false;
      expect(admissions.filter(({ countedBy }) => countedBy !== undefined)).toEqual([]);
      expect(limiter.state()).toMatchObject({ mode: 'shared', localAdmits: 0, faults: 0 });
      await limiter.onModuleDestroy();
    });

    it('returns its mode and its liveness without a token', async () => {
      const limiter = new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 });
      expect(await limiter.state()).toMatchObject({ mode: 'shared', localAdmits: 0, faults: 0 });
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      await limiter.close();
    });
  });

  it('exits with one line for each missing setting', async () => {
    const service = RunningProcess.spawn({ main: MAIN, env: { PORT: 'x' } });
    expect(await service.ended()).toBe(1);
    expect(service.output).toMatch(/REDIS_URL/);
    expect(service.output).toMatch(/LIMITER_TOKEN/);
    expect(service.output).toMatch(/PORT/);
    expect(service.output).not.toMatch(/ at .*\.js/);
  });
});
