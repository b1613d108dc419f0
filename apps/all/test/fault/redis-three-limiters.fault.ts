import { randomUUID } from 'node:crypto';
import type { Admission, AdmitRequest } from '@svc/contracts/ports';
import { admitRequest } from '@svc/limiter/testing';
import { type TestRedis, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimiterProcess } from '../limiter-process.js';

const N = 75;
const AMPLE = 1_000_000_000;
const LONG_MS = 3_600_000;

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`three limiter processes on one Redis${note}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  /** Three processes with a Redis timeout that no busy machine exceeds. */
  const startThree = (env: Readonly<Record<string, string>> = {}): Promise<LimiterProcess[]> =>
    Promise.all(
      [1, 2, 3].map(() => LimiterProcess.start(redis.url, { LIMITER_REDIS_WAIT_MS: '20000', ...env })),
    );

  const stopThree = async (three: readonly LimiterProcess[]): Promise<void> => {
    for (const { limiter } of three)
      expect(await limiter.state()).toMatchObject({ mode: 'shared', localAdmits: 0, localRefusals: 0 });
    await Promise.all(three.map((one) => one.stop()));
  };

  /** Sends this number of equal requests concurrently, distributed over the processes. */
  const spread = (three: readonly LimiterProcess[], like: AdmitRequest, count: number): Promise<Outcome[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, index): Promise<Outcome> => {
        const request = { ...like, requestId: randomUUID() };
        return { request, admission: await at(three, index).limiter.admit(request) };
      }),
    );

  describe('with long windows', () => {
    let three: LimiterProcess[] = [];
    beforeAll(async () => {
      three = await startThree();
    });
    afterAll(() => stopThree(three));

    it(`of 1,000 concurrent requests exactly ${N} are admitted, and exactly the tokens that fit, with corrections`, async () => {
      const byRequests = await untilOneWindow(() => {
        const user = { requestsPerMinute: N, tokensPerMinute: AMPLE };
        return spread(three, admitRequest({ limits: { user }, tokens: 10, windowMs: LONG_MS }), 1_000);
      });
      expect(admittedOf(byRequests)).toHaveLength(N);

      const like = admitRequest({
        model: randomUUID(),
        windowMs: LONG_MS,
        limits: {
          user: { requestsPerMinute: AMPLE, tokensPerMinute: 100_000 },
          global: { tokensPerMinute: N * 100 + 99 },
        },
        tokens: 100,
      });
      const first = admittedOf(await spread(three, like, 1_000));
      expect(first).toHaveLength(N);
      // Each used 60 of its 100 tokens; the correction goes to another process than the admission.
      await Promise.all(
        first.map(({ request, admission }, index) =>
          at(three, index + 1).limiter.settle(request, admission, { tokens: 60 }),
        ),
      );
      const left = N * 40 + 99;
      expect(admittedOf(await spread(three, like, 1_000))).toHaveLength(Math.floor(left / 100));
    });

    it("300 concurrent requests never exceed the account's concurrency, and released slots are used again", async () => {
      const like = admitRequest({ concurrent: 5 });
      for (let round = 0; round < 3; round += 1) {
        const inside = admittedOf(await spread(three, like, 300));
        expect(inside).toHaveLength(5);
        await Promise.all(
          inside.map(({ request, admission }, index) =>
            at(three, index + round).limiter.settle(request, admission, { tokens: 1 }),
          ),
        );
      }
    });
  });

  describe('with short windows', () => {
    let three: LimiterProcess[] = [];
    beforeAll(async () => {
      three = await startThree({ LIMITER_LEASE_MS: '2000' });
    });
    afterAll(() => stopThree(three));

    it('across window boundaries no window admits more than N, and each admits N', async () => {
      const user = { requestsPerMinute: N, tokensPerMinute: AMPLE };
      const like = admitRequest({ limits: { user }, windowMs: 500 });
      const windows = new Map<number, { requests: number; admitted: number }>();
      const isFull = ({ requests }: { requests: number }): boolean => requests > N;
      const load = async (limiter: LimiterProcess['limiter']): Promise<void> => {
        while (windows.size < 6 || ![...windows.values()].some(isFull)) {
          const { endsAtMs, admitted } = await limiter.admit({ ...like, requestId: randomUUID() });
          const end = endsAtMs[0] ?? 0;
          const window = windows.get(end) ?? { requests: 0, admitted: 0 };
          windows.set(end, window);
          window.requests += 1;
          if (admitted) window.admitted += 1;
        }
      };
      // Twelve callers each, without a pause, so that there are requests on either side of every boundary,
      // until a window was full.
      await Promise.all(three.flatMap(({ limiter }) => Array.from({ length: 12 }, () => load(limiter))));
      for (const { requests, admitted } of windows.values()) expect(admitted).toBe(Math.min(N, requests));
    });

    it('the slot of a request expires some time after its process was killed, and is kept for a live one', async () => {
      const [first, second, third] = [at(three, 0), at(three, 1), at(three, 2)];
      const dead = admitRequest({ concurrent: 1 });
      const live = admitRequest({ concurrent: 1 });
      await first.limiter.admit(dead);
      await first.limiter.admit(live);
      let freed: Admission;
      let longestMs = 0;
      do {
        const startMs = performance.now();
        await third.limiter.renew([live]);
        freed = await second.limiter.admit({ ...dead, requestId: randomUUID() });
        await new Promise((resolve) => setTimeout(resolve, 100));
        longestMs = Math.max(longestMs, performance.now() - startMs);
      } while (!freed.admitted);
      const kept = await second.limiter.admit({ ...live, requestId: randomUUID() });
      // If the machine paused for a whole lease, the slot has expired correctly.
      expect(kept.admitted).toBe(longestMs >= 2_000);
    });
  });
});

/** One of the three, in turn. */
function at(three: readonly LimiterProcess[], index: number): LimiterProcess {
  const one = three[index % three.length];
  if (!one) throw new Error('there is no process');
  return one;
}

interface Outcome {
  readonly request: AdmitRequest;
  readonly admission: Admission;
}

const admittedOf = (results: readonly Outcome[]): Outcome[] =>
  results.filter(({ admission }) => admission.admitted);

/** Repeats the action if a window boundary came in between. */
async function untilOneWindow(ask: () => Promise<Outcome[]>): Promise<Outcome[]> {
  for (;;) {
    const results = await ask();
    if (new Set(results.map(({ admission }) => admission.endsAtMs[0])).size === 1) return results;
  }
}
