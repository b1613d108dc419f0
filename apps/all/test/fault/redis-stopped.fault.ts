import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { FallbackLimiter, HttpLimiter } from '@svc/limiter';
import { admitRequest } from '@svc/limiter/testing';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimiterProcess } from '../limiter-process.js';

/**
 * The additional duration of a call when Redis hangs: `LIMITER_REDIS_WAIT_MS`, and as much for a busy
 * machine.
 */
const LONGER_MS = 1_000;

/** A share of a window that no outage of these tests uses up. */
const WINDOW_MS = 3_600_000;

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

  const until = async (mode: 'shared' | 'local'): Promise<void> => {
    while ((await limiterProcess.limiter.state()).mode !== mode) await sleep(20);
  };

  it.each([1_000, 7_000])(
    'for %d ms delays no call for long, fails none, switches to local limits, and then to exact ones',
    async (stoppedMs) => {
      const { limiter } = limiterProcess;
      const load = new Load(() => limiter.admit(admitRequest()));
      const callers = Array.from({ length: 8 }, () => load.run());
      await sleep(1_000);
      const longestBeforeMs = load.takeLongestMs().longestMs;
      redis.signal('SIGSTOP');
      await sleep(stoppedMs);
      const state = await limiter.state();
      redis.signal('SIGCONT');
      await until('shared');
      await sleep(200);
      load.stop();
      await Promise.all(callers);
      expect(state).toMatchObject({ mode: 'local' });
      expect(state.localAdmits).toBeGreaterThan(0);
      // At most the calls in transit when Redis stopped, and a probe.
      expect(state.waiting).toBeLessThan(1_000);
      expect(load.faults).toEqual([]);
      const { longestMs, stoodStillMs } = load.takeLongestMs();
      expect(longestMs - longestBeforeMs - stoodStillMs).toBeLessThan(LONGER_MS);
      expect(await admitsOf75(limiter)).toBe(75);
    },
  );

  it('together with a limiter process that is killed or hangs: its callers continue from their own share', async () => {
    const target = await LimiterProcess.start(redis.url);
    const shared = new HttpLimiter({ url: target.url, token: LimiterProcess.token });
    const options = { to: target.url, waitMs: 250, leaseMs: 60_000, local: { share: 0.25 } };
    const warnings: string[] = [];
    const limiter = new FallbackLimiter(shared, options, {
      warn: (_fields, message) => warnings.push(message),
    });
    await limiter.onModuleInit();
    const load = new Load(() => limiter.admit(admitRequest()));
    const callers = Array.from({ length: 4 }, () => load.run());
    await sleep(500);
    target.service.signal('SIGSTOP');
    while (limiter.state().mode === 'shared') await sleep(10);
    target.service.signal('SIGCONT');
    while (limiter.state().mode === 'local') await sleep(10);
    target.service.signal('SIGKILL');
    while (limiter.state().mode === 'shared') await sleep(10);
    load.stop();
    await Promise.all(callers);
    await limiter.onModuleDestroy();
    await target.stop();
    expect(load.faults).toEqual([]);
    const { longestMs, stoodStillMs } = load.takeLongestMs();
    expect(longestMs - stoodStillMs).toBeLessThan(250 + LONGER_MS);
    expect(warnings.slice(0, 3)).toEqual([
      'limits are counted locally: the shared count is unavailable',
      'limits are shared again',
      'limits are counted locally: the shared count is unavailable',
    ]);
  });
});

/** The number of requests that a limit of 75 admits. */
async function admitsOf75(limiter: HttpLimiter): Promise<number> {
  const user = { requestsPerMinute: 75, tokensPerMinute: 1_000_000 };
  const like = admitRequest({ limits: { user }, windowMs: WINDOW_MS });
  let admits = 0;
  for (let asked = 0, after = 0; asked < 3_000 && after < 100; asked += 10) {
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
  private longestMs = 0;
  private isOver = false;
  private readonly delay = monitorEventLoopDelay({ resolution: 5 });

  constructor(private readonly call: () => Promise<unknown>) {
    this.delay.enable();
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      const startMs = performance.now();
      try {
        await this.call();
      } catch (error) {
        this.faults.push(String(error));
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
      await sleep(5);
    }
  }

  stop(): void {
    this.isOver = true;
  }

  /**
   * The longest call since the last use of this function, and how long this process itself was not
   * scheduled.
   */
  takeLongestMs(): { longestMs: number; stoodStillMs: number } {
    const taken = { longestMs: this.longestMs, stoodStillMs: this.delay.max / 1e6 };
    this.longestMs = 0;
    this.delay.reset();
    return taken;
  }
}
