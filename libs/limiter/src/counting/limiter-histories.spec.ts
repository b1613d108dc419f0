import assert from 'node:assert/strict';
import type { Admission, AdmitRequest, LimitType, MinuteLimits } from '@svc/contracts';
import { FAILURES_ALLOWED } from '@svc/contracts';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryLimiter } from './memory-limiter.js';

const TIMES = { windowMs: 100, leaseMs: 250, failureWindowMs: 120, failureBlockMs: 80 };

/** An admitted request as an omniscient observer records it. */
interface Seen {
  readonly request: AdmitRequest;
  readonly admission: Admission;
  readonly window: number;
  /** `undefined` until it is settled. */
  used: number | undefined;
  lapsesAtMs: number;
  state: 'open' | 'settled' | 'released';
}

type Step =
  | {
      do: 'admit';
      account: number;
      key: number;
      model: number;
      tokens: number;
      limits: number;
      places: number;
    }
  | { do: 'settle'; request: number; used: number }
  | { do: 'release' | 'renew'; request: number }
  | { do: 'fail'; subject: number; times: number }
  | { do: 'wait'; ms: number };

const upTo = (max: number): fc.Arbitrary<number> => fc.nat({ max });

const often = (weight: number, name: Step['do'], fields: Record<string, fc.Arbitrary<unknown>>) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name), ...fields }) as fc.Arbitrary<Step>,
});

const step: fc.Arbitrary<Step> = fc.oneof(
  often(10, 'admit', {
    account: upTo(2),
    key: upTo(1),
    model: upTo(1),
    tokens: upTo(40),
    limits: upTo(3),
    places: upTo(8),
  }),
  often(5, 'settle', { request: upTo(30), used: upTo(80) }),
  often(2, 'release', { request: upTo(30) }),
  often(2, 'renew', { request: upTo(30) }),
  often(4, 'fail', { subject: upTo(1), times: fc.integer({ min: 1, max: 20 }) }),
  // These durations add up, so that boundaries are hit exactly.
  often(5, 'wait', { ms: fc.constantFrom(0, 1, 10, 20, 40, 50, 80, 100, 250) }),
);

const LIMITS: readonly Omit<AdmitRequest['limits'], 'user'>[] = [
  {},
  { api_key: { requestsPerMinute: 3 } },
  { global: { tokensPerMinute: 120, requestsPerMinute: 6 } },
  { api_key: { tokensPerMinute: 60 }, global: { requestsPerMinute: 5 } },
];

/** A model that stores everything and recomputes each result. */
class Model {
  private readonly seen: Seen[] = [];
  private readonly failures: { subject: string; atMs: number }[] = [];
  private readonly blocks = new Map<string, number>();

  constructor(private readonly nowMs: () => number) {}

  /** The limit that must refuse a request, or undefined if it must be admitted. */
  refusal(request: AdmitRequest): Admission['refusedBy'] {
    if (this.blockedForMs(request.subject) !== undefined) return { type: 'user', of: 'failures' };
    for (const [type, limits] of limitsOf(request)) {
      const { requests, tokens } = this.counted(type, request);
      if (requests + 1 > (limits.requestsPerMinute ?? Infinity)) return { type, of: 'requests' };
      if (tokens + request.tokens > (limits.tokensPerMinute ?? Infinity)) return { type, of: 'tokens' };
    }
    const open = this.seen.filter(
      (one) =>
        one.request.accountId === request.accountId && one.state === 'open' && one.lapsesAtMs > this.nowMs(),
    );
    return open.length + 1 > (request.concurrent ?? Infinity)
      ? { type: 'user', of: 'concurrent' }
      : undefined;
  }

  /** What is left of the tightest limit for requests and for tokens. */
  left(request: AdmitRequest): { requests: number; tokens: number } {
    const all = limitsOf(request).map(([type, limits]) => {
      const { requests, tokens } = this.counted(type, request);
      return {
        requests: Math.max(0, (limits.requestsPerMinute ?? Infinity) - requests),
        tokens: Math.max(0, (limits.tokensPerMinute ?? Infinity) - tokens),
      };
    });
    return {
      requests: Math.min(...all.map(({ requests }) => requests)),
      tokens: Math.min(...all.map(({ tokens }) => tokens)),
    };
  }

  admitted(request: AdmitRequest, admission: Admission): void {
    const lapsesAtMs = this.nowMs() + TIMES.leaseMs;
    this.seen.push({ request, admission, window: this.window(), used: undefined, lapsesAtMs, state: 'open' });
  }

  pick(index: number): Seen | undefined {
    return this.seen[this.seen.length - 1 - index];
  }

  failed(subject: string): number | undefined {
    const now = this.nowMs();
    const blocked = this.blockedForMs(subject);
    if (blocked !== undefined) return blocked;
    this.failures.push({ subject, atMs: now });
    const began = (this.blocks.get(subject) ?? -Infinity) - TIMES.failureBlockMs;
    const recent = this.failures.filter(
      (one) => one.subject === subject && one.atMs > now - TIMES.failureWindowMs && one.atMs > began,
    );
    if (recent.length <= FAILURES_ALLOWED) return undefined;
    this.blocks.set(subject, now + TIMES.failureBlockMs);
    return TIMES.failureBlockMs;
  }

  blockedForMs(subject: string): number | undefined {
    const forMs = (this.blocks.get(subject) ?? 0) - this.nowMs();
    return forMs > 0 ? forMs : undefined;
  }

  private counted(
    type: LimitType,
    { accountId, keyId, model }: AdmitRequest,
  ): { requests: number; tokens: number } {
    const inside = this.seen.filter(({ request, window, state }) => {
      if (window !== this.window() || state === 'released' || request.model !== model) return false;
      if (type !== 'user' && !request.limits[type]) return false;
      if (type === 'global') return true;
      return request.accountId === accountId && (type === 'user' || request.keyId === keyId);
    });
    return {
      requests: inside.length,
      tokens: inside.reduce((sum, { request, used }) => sum + (used ?? request.tokens), 0),
    };
  }

  private window(): number {
    return Math.floor(this.nowMs() / TIMES.windowMs);
  }
}

function limitsOf({ limits }: AdmitRequest): [LimitType, MinuteLimits][] {
  const { user, api_key: apiKey, global } = limits;
  return [
    ['user', user],
    ...(apiKey ? [['api_key', apiKey] satisfies [LimitType, MinuteLimits]] : []),
    ...(global ? [['global', global] satisfies [LimitType, MinuteLimits]] : []),
  ];
}

/** The limiter next to the model: after each step they must agree. */
class World {
  private nowMs = 1_000_000;
  private count = 0;
  private readonly limiter = new MemoryLimiter({
    ...TIMES,
    nowMs: () => this.nowMs,
    elapsedMs: () => this.nowMs,
  });
  private readonly model = new Model(() => this.nowMs);

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'admit':
        return this.admit(step);
      case 'settle':
        return this.settle(step);
      case 'release':
        return this.release(step);
      case 'renew':
        return this.renew(step);
      case 'fail':
        return this.fail(step);
      case 'wait':
        this.nowMs += step.ms;
    }
  }

  private async admit({
    account,
    key,
    model,
    tokens,
    limits,
    places,
  }: Step & { do: 'admit' }): Promise<void> {
    const request: AdmitRequest = {
      requestId: `request-${(this.count += 1)}`,
      accountId: `account-${account}`,
      keyId: `key-${key}`,
      model: `model-${model}`,
      subject: subjectOf(account),
      limits: { user: { requestsPerMinute: 5, tokensPerMinute: 100 }, ...LIMITS[limits] },
      ...(places < 4 && { concurrent: places }),
      tokens,
    };
    const refusal = this.model.refusal(request);
    const admission = await this.limiter.admit(request);
    assert.deepEqual(admission.refusedBy, refusal);
    assert.equal(admission.admitted, refusal === undefined);
    assert.equal(admission.blockedForMs, this.model.blockedForMs(request.subject));
    if (admission.admitted) this.model.admitted(request, admission);
    const left = this.model.left(request);
    assert.deepEqual(
      [admission.requests.remaining, admission.tokens.remaining],
      [left.requests, left.tokens],
    );
  }

  private async settle({ request, used }: Step & { do: 'settle' }): Promise<void> {
    const seen = this.model.pick(request);
    if (!seen) return;
    await this.limiter.settle(seen.request, seen.admission, used);
    if (seen.state !== 'open') return;
    seen.state = 'settled';
    seen.used = used;
  }

  private async release({ request }: { request: number }): Promise<void> {
    const seen = this.model.pick(request);
    if (!seen) return;
    await this.limiter.release(seen.request, seen.admission);
    if (seen.state === 'open') seen.state = 'released';
  }

  private async renew({ request }: { request: number }): Promise<void> {
    const seen = this.model.pick(request);
    if (!seen) return;
    await this.limiter.renew([seen.request]);
    if (seen.lapsesAtMs > this.nowMs) seen.lapsesAtMs = this.nowMs + TIMES.leaseMs;
  }

  private async fail({ subject, times }: Step & { do: 'fail' }): Promise<void> {
    const name = subjectOf(subject);
    for (let time = 0; time < times; time += 1) {
      assert.equal((await this.limiter.failed(name)).forMs, this.model.failed(name));
      assert.equal((await this.limiter.blocked(name)).forMs, this.model.blockedForMs(name));
    }
  }
}

const subjectOf = (caller: number): string => `key:${caller}`;

const seed = Date.now() % 2 ** 31;

describe(`random histories of the limiter (seed ${seed})`, () => {
  it('match the model after any mix of requests, corrections, lapses and failures', async () => {
    const histories = fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
      const world = new World();
      for (const one of steps) await world.take(one);
    });
    await expect(
      fc.assert(histories, { seed, numRuns: repeats('LIMIT_HISTORIES') }),
    ).resolves.toBeUndefined();
  });
});
