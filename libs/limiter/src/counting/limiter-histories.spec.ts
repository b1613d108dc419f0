import assert from 'node:assert/strict';
import { type Admission, type AdmitRequest, FAILURES_ALLOWED, type Limit } from '@svc/contracts/ports';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admitRequest, limitsOf } from '../../test/admit-request.js';
import { MemoryLimiter } from './memory-limiter.js';

const TIMES = { leaseMs: 250, failureWindowMs: 120, failureBlockMs: 80 };

/** An admitted request as an omniscient observer records it. */
interface Seen {
  readonly request: AdmitRequest;
  readonly admission: Admission;
  readonly atMs: number;
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
    limits: upTo(4),
    places: upTo(8),
  }),
  often(5, 'settle', { request: upTo(30), used: upTo(80) }),
  often(2, 'release', { request: upTo(30) }),
  often(2, 'renew', { request: upTo(30) }),
  often(4, 'fail', { subject: upTo(1), times: fc.integer({ min: 1, max: 20 }) }),
  // These durations add up, so that boundaries are hit exactly.
  often(5, 'wait', { ms: fc.constantFrom(0, 1, 10, 20, 40, 50, 80, 100, 250) }),
);

/** Most limits have windows of 100 ms. Some accounts also have one of 250 ms. */
const LIMITS: readonly (readonly Limit[])[] = [
  [],
  limitsOf({ api_key: { requestsPerMinute: 3 } }, 100),
  limitsOf({ global: { tokensPerMinute: 120, requestsPerMinute: 6 } }, 100),
  limitsOf({ api_key: { tokensPerMinute: 60 }, global: { requestsPerMinute: 5 } }, 100),
  limitsOf({ user: { requestsPerMinute: 8, tokensPerMinute: 150 } }, 250),
];

/** A model that stores everything and recomputes each result. */
class Model {
  private readonly seen: Seen[] = [];
  private readonly failures: { subject: string; atMs: number }[] = [];
  private readonly blocks = new Map<string, number>();

  constructor(private readonly nowMs: () => number) {}

  /** The limit that must refuse a request, or undefined if it must be admitted. */
  refusal(request: AdmitRequest): Admission['refusedBy'] {
    if (this.blockedForMs(request.subject) !== undefined) return { of: 'failures' };
    for (const limit of request.limits)
      if (this.counted(limit, request) + (request.amounts[limit.unit] ?? 0) > limit.max)
        return { of: 'limit', limit, resetAtMs: (this.window(limit) + 1) * limit.windowMs };
    const open = this.seen.filter(
      (one) =>
        one.request.accountId === request.accountId && one.state === 'open' && one.lapsesAtMs > this.nowMs(),
    );
    return open.length + 1 > (request.concurrent ?? Infinity) ? { of: 'concurrent' } : undefined;
  }

  /** What is left of the tightest limit of a unit. */
  left(request: AdmitRequest, unit: Limit['unit']): number {
    const limits = request.limits.filter((limit) => limit.unit === unit);
    return Math.min(...limits.map((limit) => Math.max(0, limit.max - this.counted(limit, request))));
  }

  admitted(request: AdmitRequest, admission: Admission): void {
    const lapsesAtMs = this.nowMs() + TIMES.leaseMs;
    this.seen.push({ request, admission, atMs: this.nowMs(), used: undefined, lapsesAtMs, state: 'open' });
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

  /** What a window has counted. */
  private counted(limit: Limit, { accountId, keyId, resource }: AdmitRequest): number {
    const { scope, unit, windowMs } = limit;
    const inside = this.seen.filter(({ request, atMs, state }) => {
      if (this.window(limit, atMs) !== this.window(limit) || state === 'released') return false;
      if (request.resource.name !== resource.name) return false;
      if (!request.limits.some((one) => one.scope === scope && one.windowMs === windowMs)) return false;
      if (scope === 'global') return true;
      return request.accountId === accountId && (scope === 'user' || request.keyId === keyId);
    });
    return inside.reduce((sum, { request, used }) => {
      const amount = unit === 'tokens' ? used : undefined;
      return sum + (amount ?? request.amounts[unit] ?? 0);
    }, 0);
  }

  private window({ windowMs }: Limit, atMs = this.nowMs()): number {
    return Math.floor(atMs / windowMs);
  }
}

/** The limiter next to the model: after each step they must agree. */
class Fixture {
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

  private admit({ account, key, model, tokens, limits, places }: Step & { do: 'admit' }): void {
    const request: AdmitRequest = {
      ...admitRequest({ model: `model-${model}`, tokens }),
      requestId: `request-${(this.count += 1)}`,
      accountId: `account-${account}`,
      keyId: `key-${key}`,
      subject: subjectOf(account),
      limits: [
        ...limitsOf({ user: { requestsPerMinute: 5, tokensPerMinute: 100 } }, 100),
        ...(LIMITS[limits] ?? []),
      ],
      ...(places < 4 && { concurrent: places }),
    };
    const refusal = this.model.refusal(request);
    const admission = this.limiter.admit(request);
    assert.deepEqual(admission.refusedBy, refusal);
    assert.equal(admission.admitted, refusal === undefined);
    assert.equal(admission.blockedForMs, this.model.blockedForMs(request.subject));
    if (admission.admitted) this.model.admitted(request, admission);
    const { requests, tokens: tokensLeft } = admission.tightest;
    assert.equal(requests?.remaining, this.model.left(request, 'requests'));
    assert.equal(tokensLeft?.remaining, this.model.left(request, 'tokens'));
  }

  private settle({ request, used }: Step & { do: 'settle' }): void {
    const seen = this.model.pick(request);
    if (!seen) return;
    this.limiter.settle(seen.request, seen.admission, { tokens: used });
    if (seen.state !== 'open') return;
    seen.state = 'settled';
    seen.used = used;
  }

  private release({ request }: { request: number }): void {
    const seen = this.model.pick(request);
    if (!seen) return;
    this.limiter.release(seen.request, seen.admission);
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
      const fixture = new Fixture();
      for (const one of steps) await fixture.take(one);
    });
    await expect(
      fc.assert(histories, { seed, numRuns: repeats('LIMIT_HISTORIES') }),
    ).resolves.toBeUndefined();
  });
});
