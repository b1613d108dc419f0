import { type Charge, chargeLine } from '@svc/contracts/messages';
import { type Hold, Ledger, type Limiter } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { createLogger } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { BackgroundWork } from '../http/background-work.js';
import type { Repeat } from '../http/repeat.js';
import { Reservation } from './reservation.js';

/** An output token costs one nano-dollar. */
const output = { sku: 'm-llm-output-mtoken', unit: 'token', priceNanoPerMillion: 1_000_000n } as const;
const used = (completionTokens: number) => ({
  backend: 'b',
  usage: { promptTokens: 1, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  lines: [chargeLine(output, completionTokens)],
  durationMs: 1,
});

const LIMITS = {
  admitted: true,
  tightest: {
    requests: { limit: 2, remaining: 1, resetAtMs: 0 },
    tokens: { limit: 2, remaining: 1, resetAtMs: 0 },
  },
  endsAtMs: [0],
  scope: 'user',
};

/** A ledger that fails every call after the first hold, optionally except settling. */
class FailingLedger extends Ledger {
  readonly charges: Charge[] = [];
  settles = true;
  readonly released: Hold[] = [];

  override hold(): Promise<Hold> {
    throw new Error('the test holds');
  }

  override available(): Promise<never> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }

  override extend(): Promise<never> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }

  override renew(): Promise<void> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }

  override settle(_hold: Hold, charge: Charge): Promise<void> {
    if (!this.settles) return Promise.reject(new Problem('UNAVAILABLE'));
    this.charges.push(charge);
    return Promise.resolve();
  }

  override release(hold: Hold): Promise<void> {
    this.released.push(hold);
    return Promise.reject(new Problem('UNAVAILABLE'));
  }
}

function reserved(heldNano: bigint, repeat?: Repeat) {
  const ledger = new FailingLedger();
  const log = createLogger('silent');
  const errors: unknown[] = [];
  log.error = (...entry: unknown[]) => void errors.push(entry);
  const background = new BackgroundWork({ log });
  const corrected: (number | 'all')[] = [];
  const settle = (_request: unknown, _limits: unknown, { tokens }: { tokens: number }): Promise<void> => {
    corrected.push(tokens);
    return Promise.resolve();
  };
  const amount = { usdNano: heldNano, diemNano: 0n };
  const hold: Hold = { requestId: 'r', accountId: 'a', keyId: 'k', amount, before: amount };
  const request = { requestId: 'r', accountId: 'a', amounts: { requests: 1, tokens: 1 } };
  const admitted = { name: 'm', caller: {}, request, limits: LIMITS, repeat };
  const release = (): Promise<void> => {
    corrected.push('all');
    return Promise.resolve();
  };
  const limiter = { settle, release } as unknown as Limiter;
  const reservation = new Reservation({ ledger, limiter, background, log }, admitted as never, hold);
  return { reservation, ledger, errors, corrected };
}

describe('a reservation whose hold cannot grow for another reason than lack of money', () => {
  it('charges what is held, writes off the rest and logs it', async () => {
    const { reservation, ledger, errors, corrected } = reserved(10n);
    expect((await reservation.settle(used(25))).cost).toEqual({ usdNano: 10n, diemNano: 0n });
    expect(ledger.charges).toMatchObject([{ requestId: 'r', cost: { usdNano: 10n }, writeOffNano: 15n }]);
    expect(errors).toHaveLength(1);
    expect(corrected).toEqual([26]);
  });

  it('charges the full amount when its hold is large enough', async () => {
    const { reservation, ledger, errors } = reserved(30n);
    expect((await reservation.settle(used(25))).cost).toEqual({ usdNano: 25n, diemNano: 0n });
    expect(ledger.charges).toMatchObject([{ writeOffNano: 0n }]);
    expect(errors).toEqual([]);
  });
});

describe('a reservation whose charge fails', () => {
  it('logs the error and throws it', async () => {
    const { reservation, ledger, errors } = reserved(30n);
    ledger.settles = false;
    await expect(reservation.settle(used(25))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(errors).toHaveLength(1);
  });
});

describe('a reservation of a request with a key', () => {
  const keyed = (): Repeat & { refusals: number } => ({
    isTakenOver: false,
    refusals: 0,
    charged: (charge) => Promise.resolve(charge),
    refused() {
      this.refusals += 1;
    },
    answered: () => Promise.resolve(),
  });

  it('says so if no store accepts its charge', async () => {
    const repeat = keyed();
    const { reservation, ledger } = reserved(30n, repeat);
    ledger.settles = false;
    await expect(reservation.settle(used(25))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(repeat.refusals).toBe(1);
  });

  it('does not if its charge is stored, or does not fit its hold', async () => {
    const repeat = keyed();
    await reserved(30n, repeat).reservation.settle(used(25));
    const { reservation, ledger } = reserved(30n, repeat);
    ledger.settle = () => Promise.reject(new Error('a cost is within its hold'));
    await expect(reservation.settle(used(25))).rejects.toThrow('within its hold');
    expect(repeat.refusals).toBe(0);
  });
});

describe('a reservation whose charge failed because of this service', () => {
  it('is removed from the limits, once', async () => {
    const { reservation, ledger, corrected } = reserved(30n);
    ledger.settles = false;
    await expect(reservation.settle(used(25))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await reservation.cancel()).toMatchObject({ 'x-ratelimit-remaining-requests': 2 });
    expect(await reservation.cancel()).toEqual({});
    await reservation.release();
    expect(corrected).toEqual(['all']);
    expect(ledger.released).toEqual([]);
  });
});

describe('a delivery without lines', () => {
  it('costs nothing: its hold is released and none of its tokens count', async () => {
    const { reservation, ledger, corrected } = reserved(30n);
    const { cost } = await reservation.settle({ ...used(25), lines: [] });
    expect(cost).toEqual({ usdNano: 0n, diemNano: 0n });
    expect(ledger.charges).toEqual([]);
    expect(ledger.released).toHaveLength(1);
    expect(corrected).toEqual([0]);
  });
});

describe('a reservation that cannot be released', () => {
  it('logs the failure and does not throw', async () => {
    const { reservation, errors } = reserved(10n);
    await reservation.release();
    await reservation.release();
    expect(errors).toHaveLength(1);
  });
});
