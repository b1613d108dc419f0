import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LimitsState } from '@svc/contracts/ports';
import { FallbackLimiter, HttpLimiter } from '@svc/limiter';
import { admitRequest } from '@svc/limiter/testing';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimiterProcess } from '../limiter-process.js';

/** A window so long that hardly any test meets its end. */
const WINDOW_MS = 1_000_000_000;

/** More calls than a caller has in transit when a server stops. */
const MORE_CALLS = 10;

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`a Redis that hangs under load${note}`, () => {
  let redis: TestRedis;
  let limiterProcess: LimiterProcess;
  beforeAll(async () => {
    redis = await startTestRedis();
    limiterProcess = await LimiterProcess.start(redis.url);
  });
  afterAll(async () => {
    await limiterProcess?.stop();
    await redis?.stop();
  });

  const reached = async (isReached: (state: LimitsState) => boolean): Promise<LimitsState> => {
    for (;;) {
      const state = await limiterProcess.limiter.state();
      if (isReached(state)) return state;
      await sleep(20);
    }
  };

  it.each([
    ['until calls no longer wait for it', /./],
    ['until its connection is closed', /^(?!no response)/],
  ])(
    '%s keeps no call waiting, fails none, switches to local limits, and then to exact ones',
    async (_title, reason) => {
      const { limiter } = limiterProcess;
      const load = new Load(8, () => limiter.admit(admitRequest()));
      await load.more(MORE_CALLS);
      redis.signal('SIGSTOP');
      await reached((state) => state.mode === 'local' && reason.test(state.reason ?? ''));
      // Redis is still stopped, so no call can be waiting for it.
      await load.more(MORE_CALLS);
      const state = await limiter.state();
      redis.signal('SIGCONT');
      await reached(({ mode }) => mode === 'shared');
      await load.more(MORE_CALLS);
      await load.stop();
      expect(state).toMatchObject({ mode: 'local' });
      expect(state.localAdmits).toBeGreaterThan(0);
      // At most the calls in transit when Redis stopped, and a probe.
      expect(state.waiting).toBeLessThan(1_000);
      expect(load.faults).toEqual([]);
      expect(await admitsOf75(limiter)).toBe(75);
    },
  );

  it('together with a limiter process that is killed or hangs: its callers continue from their own share', async () => {
    const target = await LimiterProcess.start(redis.url);
    const shared = new HttpLimiter({ url: target.url, token: LimiterProcess.token });
    const options = { to: target.url, waitMs: 250, leaseMs: 60_000, local: { share: 0.25 } };
    const warnings: [string, unknown][] = [];
    const limiter = new FallbackLimiter(shared, options, {
      warn: (fields, message) => warnings.push([message, (fields as { reason?: string }).reason]),
    });
    await limiter.onModuleInit();
    const load = new Load(4, () => limiter.admit(admitRequest()));
    await load.more(MORE_CALLS);
    target.service.signal('SIGSTOP');
    while (limiter.state().mode === 'shared') await sleep(10);
    await load.more(MORE_CALLS);
    target.service.signal('SIGCONT');
    while (limiter.state().mode === 'local') await sleep(10);
    target.service.signal('SIGKILL');
    while (limiter.state().mode === 'shared') await sleep(10);
    await load.more(MORE_CALLS);
    await load.stop();
    await limiter.onModuleDestroy();
    await target.stop();
    expect(load.faults).toEqual([]);
    expect(warnings.slice(0, 3)).toEqual([
      ['limits are counted locally: the shared count is unavailable', 'no response in 250 ms'],
      ['limits are shared again', undefined],
      ['limits are counted locally: the shared count is unavailable', expect.any(String)],
    ]);
  });
});

/** The number of requests that a limit of 75 admits. */
async function admitsOf75(limiter: HttpLimiter): Promise<number> {
  const user = { requestsPerMinute: 75, tokensPerMinute: 1_000_000 };
  const like = admitRequest({ limits: { user }, windowMs: WINDOW_MS });
  let admits = 0;
  for (let sent = 0, after = 0; sent < 3_000 && after < 100; sent += 10) {
    if (admits >= 75) after += 10;
    const all = await Promise.all(
      Array.from({ length: 10 }, () => limiter.admit({ ...like, requestId: randomUUID() })),
    );
    admits += all.filter(({ admitted }) => admitted).length;
  }
  return admits;
}

/** Callers that send requests without a pause, and their results. */
class Load {
  readonly faults: string[] = [];
  private isOver = false;
  private readonly calls: number[];
  private readonly callers: readonly Promise<void>[];

  constructor(
    callers: number,
    private readonly call: () => Promise<unknown>,
  ) {
    this.calls = Array.from({ length: callers }, () => 0);
    this.callers = this.calls.map((_none, caller) => this.run(caller));
  }

  /** Resolves once every caller has had responses to this number of further calls. */
  async more(calls: number): Promise<void> {
    const before = [...this.calls];
    while (this.calls.some((count, caller) => count < (before[caller] ?? 0) + calls)) await sleep(5);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.callers);
  }

  private async run(caller: number): Promise<void> {
    while (!this.isOver) {
      try {
        await this.call();
      } catch (error) {
        this.faults.push(String(error));
      }
      this.calls[caller] = (this.calls[caller] ?? 0) + 1;
      await sleep(5);
    }
  }
}
