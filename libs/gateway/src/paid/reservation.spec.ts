import type { Model } from '@svc/catalog';
import { type Charge, type Hold, Ledger, type Limiter, Problem, type Usage } from '@svc/contracts';
import { createLogger } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { BackgroundWork } from '../http/background-work.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { Reservation } from './reservation.js';

/** An output token costs one nano-dollar. */
const rates = { inputNano: 0n, outputNano: 1_000_000n, cacheInputNano: 0n, cacheWriteNano: 0n };
const plan = {
  model: { id: 'm', rates } as Model,
  promptTokens: 0,
  choices: 1,
  outputTokensAtMost: 100,
} as ChatPlan;
const used = (completionTokens: number): { backend: string; usage: Usage; durationMs: number } => ({
  backend: 'b',
  usage: { promptTokens: 1, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  durationMs: 1,
});

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

function reserved(heldNano: bigint) {
  const ledger = new FailingLedger();
  const log = createLogger('silent');
  const errors: unknown[] = [];
  log.error = (...entry: unknown[]) => void errors.push(entry);
  const background = new BackgroundWork({ log });
  const corrected: number[] = [];
  const settle = (_request: unknown, _limits: unknown, tokens: number): Promise<void> => {
    corrected.push(tokens);
    return Promise.resolve();
  };
  const amount = { usdNano: heldNano, diemNano: 0n };
  const hold: Hold = { requestId: 'r', accountId: 'a', keyId: 'k', amount, before: amount };
  const admitted = {
    plan,
    request: { requestId: 'r', accountId: 'a' },
    firstTokens: 1,
    leastTokens: 1,
    trancheTokens: 16,
  };
  const limiter = { settle } as unknown as Limiter;
  const reservation = new Reservation({ ledger, limiter, background, log }, admitted as never, hold);
  return { reservation, ledger, errors, corrected };
}

describe('a reservation whose hold cannot grow for another reason than lack of money', () => {
  it('charges what is held, writes off the rest and logs it', async () => {
    const { reservation, ledger, errors, corrected } = reserved(10n);
    expect(await reservation.settle(used(25))).toEqual({ usdNano: 10n, diemNano: 0n });
    expect(ledger.charges).toMatchObject([{ requestId: 'r', cost: { usdNano: 10n }, writeOffNano: 15n }]);
    expect(errors).toHaveLength(1);
    expect(corrected).toEqual([26]);
  });

  it('charges the full amount when its hold is large enough', async () => {
    const { reservation, ledger, errors } = reserved(30n);
    expect(await reservation.settle(used(25))).toEqual({ usdNano: 25n, diemNano: 0n });
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

describe('a reservation that cannot be released', () => {
  it('logs the failure and does not throw', async () => {
    const { reservation, errors } = reserved(10n);
    await reservation.release();
    await reservation.release();
    expect(errors).toHaveLength(1);
  });
});
