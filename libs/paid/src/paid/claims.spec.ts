import {
  type Admission,
  type AdmitRequest,
  type Hold,
  type HoldRequest,
  type Ledger,
  type Limiter,
  perMinute,
} from '@svc/contracts/ports';
import { PROVISIONAL_MS, Problem } from '@svc/contracts/problems';
import { createLogger } from '@svc/runtime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClaimOutcome, Claims } from './claims.js';

const BURST = 300;
const GATEWAYS = 3;

// Time passes only when all work of a moment is done, so a slow machine is not a slow network.
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
});
afterAll(() => {
  vi.useRealTimers();
});

/** A number of things that requests take and may give back, over a network that delays each call. */
class Stock {
  private readonly takenAtMs = new Map<string, number>();
  most = 0;

  constructor(private readonly size: number) {}

  /** Undefined if it was taken, or else whether that may change. */
  async take(requestId: string): Promise<{ isProvisional: boolean } | undefined> {
    await sleep(Math.random() * 8);
    const nowMs = performance.now();
    const isFull = this.takenAtMs.size >= this.size;
    const isProvisional = Array.from(this.takenAtMs.values()).some((atMs) => atMs > nowMs - PROVISIONAL_MS);
    if (!isFull) this.takenAtMs.set(requestId, nowMs);
    this.most = Math.max(this.most, this.takenAtMs.size);
    await sleep(Math.random() * 8);
    return isFull ? { isProvisional } : undefined;
  }

  async giveBack(requestId: string): Promise<void> {
    await sleep(Math.random() * 8);
    this.takenAtMs.delete(requestId);
  }
}

/** An account with money for a number of requests, and keys with limits. */
class Account {
  readonly money: Stock;
  private readonly limits: ReadonlyMap<string, Stock>;
  private readonly gateways: readonly Claims[];
  calls = 0;

  constructor(given: { money: number; limits: Readonly<Record<string, number>>; gateways?: number }) {
    this.money = new Stock(given.money);
    this.limits = new Map(Object.entries(given.limits).map(([keyId, size]) => [keyId, new Stock(size)]));
    this.gateways = Array.from(
      { length: given.gateways ?? GATEWAYS },
      () => new Claims(this.limiter, this.ledger, { log: createLogger('silent') }, sleep),
    );
  }

  limit(keyId: string): Stock {
    const limit = this.limits.get(keyId);
    if (!limit) throw new Error(`no key ${keyId}`);
    return limit;
  }

  /** Claims for a number of requests of each key, through all gateways. */
  async burst(
    keyIds: readonly string[],
    each: number,
  ): Promise<readonly { keyId: string; claim: ClaimOutcome }[]> {
    const requests = Array.from({ length: each }, (_, index) => keyIds.map((keyId) => ({ keyId, index })));
    const claims = Promise.all(
      requests.flat().map(async ({ keyId, index }) => {
        const gateway = this.gateways[index % this.gateways.length];
        if (!gateway) throw new Error('no gateway');
        const names = { requestId: `${keyId} ${index}`, accountId: 'a', keyId };
        const request: AdmitRequest = {
          ...names,
          resource: { kind: 'model', name: 'm' },
          limits: perMinute('user', { requestsPerMinute: 1 }),
          amounts: { requests: 1 },
          subject: `key:${keyId}`,
        };
        return { keyId, claim: await gateway.claim({ request, hold: { ...names, amountNano: 1n } }) };
      }),
    );
    await vi.runAllTimersAsync();
    return claims;
  }

  private get limiter(): Limiter {
    const admit = async ({ requestId, keyId }: AdmitRequest): Promise<Admission> => {
      this.calls += 1;
      const refused = await this.limit(keyId).take(requestId);
      return { admitted: !refused, ...refused, tightest: {}, endsAtMs: [], scope: 'user' };
    };
    const release = ({ requestId, keyId }: AdmitRequest): Promise<void> =>
      this.limit(keyId).giveBack(requestId);
    return { admit, release } as unknown as Limiter;
  }

  private get ledger(): Ledger {
    const none = { usdNano: 0n, diemNano: 0n };
    const hold = async (request: HoldRequest): Promise<Hold> => {
      this.calls += 1;
      const refused = await this.money.take(request.requestId);
      if (refused) throw new Problem('INSUFFICIENT_BALANCE', refused);
      return { ...request, amount: none, before: none };
    };
    const release = ({ requestId }: Hold): Promise<void> => this.money.giveBack(requestId);
    return { hold, release } as unknown as Ledger;
  }
}

/** The number of requests by outcome: begun, or refused by. */
function outcomes(claims: readonly { claim: ClaimOutcome }[]): Record<string, number> {
  const counts: Record<string, number> = { begun: 0 };
  for (const { claim } of claims) {
    const outcome = claim.refusal?.by ?? 'begun';
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe('a burst of 300 requests over three gateways', () => {
  it.each([
    { money: 3, limit: 50 },
    { money: 1, limit: 200 },
    { money: 0, limit: 50 },
    { money: 150, limit: 250 },
    { money: 200, limit: 220 },
  ])('is refused for money alone where that is scarce, and uses all of it: %j', async ({ money, limit }) => {
    const account = new Account({ money, limits: { k: limit } });
    expect(outcomes(await account.burst(['k'], BURST))).toEqual({ begun: money, money: BURST - money });
    expect(account.money.most).toBeLessThanOrEqual(money);
  });

  it.each([
    { money: 50, limit: 3 },
    { money: 200, limit: 1 },
    { money: 50, limit: 0 },
    { money: 250, limit: 150 },
    { money: 220, limit: 200 },
  ])(
    'is refused for its limit alone where that is scarce, and uses all of it: %j',
    async ({ money, limit }) => {
      const account = new Account({ money, limits: { k: limit } });
      expect(outcomes(await account.burst(['k'], BURST))).toEqual({ begun: limit, limits: BURST - limit });
      expect(account.limit('k').most).toBeLessThanOrEqual(limit);
    },
  );

  it.each([1, 10, 100, 250])('uses all of both where both are scarce: %d', async (size) => {
    const account = new Account({ money: size, limits: { k: size } });
    expect(outcomes(await account.burst(['k'], BURST))).toMatchObject({ begun: size });
  });

  it('takes nothing from another key of the account when it is refused', async () => {
    const account = new Account({ money: 50, limits: { limited: 2, other: 100 } });
    const claims = await account.burst(['limited', 'other'], BURST / 2);
    const of = (wanted: string) => outcomes(claims.filter(({ keyId }) => keyId === wanted));
    expect(of('limited')['begun']).toBeLessThanOrEqual(2);
    expect(outcomes(claims)).toMatchObject({ begun: 50 });
    expect(of('other')['limits']).toBeUndefined();
  });
});

describe('a request', () => {
  it('is granted without waiting if neither the limiter nor the ledger has to wait', () => {
    const none = { usdNano: 0n, diemNano: 0n };
    const limiter = {
      admit: (): Admission => ({ admitted: true, tightest: {}, endsAtMs: [], scope: 'user' }),
    };
    const ledger = { hold: (request: HoldRequest): Hold => ({ ...request, amount: none, before: none }) };
    const log = { log: createLogger('silent') };
    const claims = new Claims(limiter as unknown as Limiter, ledger as unknown as Ledger, log);
    const names = { requestId: 'r', accountId: 'a', keyId: 'k' };
    const needs = { request: names as AdmitRequest, hold: { ...names, amountNano: 1n } };
    expect(claims.claim(needs)).toMatchObject({ refusal: undefined, admission: { admitted: true } });
  });

  it('makes both calls at once, and no other, if nothing was refused', async () => {
    const account = new Account({ money: 9, limits: { k: 9 }, gateways: 1 });
    expect(outcomes(await account.burst(['k'], 9))).toEqual({ begun: 9 });
    expect(account.calls).toBe(18);
  });

  it('makes one call if the same was refused just before, so it takes nothing from others', async () => {
    const account = new Account({ money: 9, limits: { k: 0 }, gateways: 1 });
    await account.burst(['k'], 1);
    account.calls = 0;
    expect(outcomes(await account.burst(['k'], 9))).toEqual({ begun: 0, limits: 9 });
    expect([account.calls, account.money.most]).toEqual([9, 1]);
  });
});
