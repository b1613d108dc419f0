import type { Model } from '@svc/catalog';
import type { Balances } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import { type Extension, type Hold, Ledger } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import type { ChatPlan } from '../request/chat-plan.js';
import { ProgressiveHold } from './progressive-hold.js';
import { Meter } from '../tokens/meter.js';
import { Reservation } from '@svc/paid/paid';
import { ChatHold } from './chat-hold.js';
import { costAtMostNano } from './chat-price.js';

const OUTPUT_NANO = 20_000n;
const model = {
  id: 'm',
  rates: {
    inputNano: 0n,
    outputNano: OUTPUT_NANO * 1_000_000n,
    cacheInputNano: 0n,
    cacheWriteNano: 0n,
    cacheWriteHourNano: 0n,
  },
} as Model;

/** The money of one account, and the amounts that were requested. */
class Purse extends Ledger {
  readonly amounts: bigint[] = [];

  /** The number of further calls that fail as unavailable. */
  away = 0;

  constructor(private leftNano: bigint) {
    super();
  }

  override hold(): Promise<Hold> {
    throw new Error('the test holds');
  }

  override available(): Promise<Balances> {
    return Promise.resolve({ usdNano: this.leftNano, diemNano: 0n });
  }

  override extend(hold: Hold, { moreNano, atLeastNano = moreNano }: Extension): Promise<Hold> {
    this.amounts.push(moreNano);
    if (this.away > 0) {
      this.away -= 1;
      return Promise.reject(new Problem('UNAVAILABLE'));
    }
    if (this.leftNano < atLeastNano) return Promise.reject(new Problem('INSUFFICIENT_BALANCE'));
    const taken = moreNano < this.leftNano ? moreNano : this.leftNano;
    this.leftNano -= taken;
    return Promise.resolve({ ...hold, amount: { usdNano: hold.amount.usdNano + taken, diemNano: 0n } });
  }

  override renew(): Promise<void> {
    return Promise.resolve();
  }

  override settle(_hold: Hold, _charge: Charge): Promise<void> {
    return Promise.resolve();
  }

  override release(): Promise<void> {
    return Promise.resolve();
  }

  put(nano: bigint): void {
    this.leftNano += nano;
  }

  get left(): bigint {
    return this.leftNano;
  }
}

interface HoldCase {
  readonly beforeTokens: number;
  readonly heldTokens?: number;
  readonly outputTokensAtMost?: number;
  readonly ledgerTimeoutMs?: number;
}

/** A response of an account with this balance, part of which is held. */
function response({
  beforeTokens,
  heldTokens = 64,
  outputTokensAtMost = 100_000,
  ledgerTimeoutMs = 60_000,
}: HoldCase) {
  const leaving = new AbortController();
  const plan = { model, promptTokens: 0, choices: 1, outputTokensAtMost } as ChatPlan;
  const nano = (tokens: number): bigint => costAtMostNano(model, 0, tokens);
  const purse = new Purse(nano(beforeTokens) - nano(heldTokens));
  const hold: Hold = {
    requestId: 'r',
    accountId: 'a',
    keyId: 'k',
    amount: { usdNano: nano(heldTokens), diemNano: 0n },
    before: { usdNano: nano(beforeTokens), diemNano: 0n },
  };
  const neighbours = { ledger: purse } as unknown as ConstructorParameters<typeof Reservation>[0];
  const sizes = { firstTokens: heldTokens, leastTokens: 1, trancheTokens: 512 };
  const reservation = new ChatHold(new Reservation(neighbours, { caller: {} } as never, hold), sizes, plan);
  return {
    purse,
    reservation,
    leaving,
    ahead: new ProgressiveHold(reservation, plan, { ledgerTimeoutMs, signal: leaving.signal }),
    meter: new Meter(),
  };
}

/** Delivers tokens one by one. Returns how many were delivered, and the reason for ending early. */
async function deliver({ ahead, meter }: ReturnType<typeof response>, tokens: number) {
  for (let delivered = 0; delivered < tokens; delivered += 1) {
    meter.addMessage({ content: 'x' });
    const shortage = ahead.isAhead(meter) ? undefined : await ahead.reach(meter);
    if (shortage) return { delivered, shortage };
  }
  return { delivered: tokens };
}

describe('ProgressiveHold', () => {
  it('uses all available money, to the last token', async () => {
    const given = response({ beforeTokens: 3_000 });
    expect(await deliver(given, 5_000)).toEqual({ delivered: 3_000, shortage: 'out_of_money' });
    expect(given.purse.left).toBe(0n);
  });

  it('holds a tranche ahead when there is plenty of money, with at most two ledger calls per tranche', async () => {
    const given = response({ beforeTokens: 10_000_000 });
    expect(await deliver(given, 10_000)).toEqual({ delivered: 10_000 });
    expect(given.purse.amounts.length).toBeLessThanOrEqual(2 * (10_000 / 512) + 2);
    expect(given.reservation.coveredTokens).toBeLessThanOrEqual(10_000 + 512);
  });

  it('holds little ahead when there is little money, so that other requests get some', async () => {
    const given = response({ beforeTokens: 50_000 });
    await deliver(given, 1_000);
    expect(given.reservation.coveredTokens).toBeLessThanOrEqual(1_000 + 50);
    expect(response({ beforeTokens: 100 }).reservation.trancheTokens).toBe(16);
  });

  it('rarely calls the ledger when no money is left, but in time to use money that comes back', async () => {
    const given = response({ beforeTokens: 512, heldTokens: 512 });
    await deliver(given, 500);
    expect(given.purse.amounts.length).toBeLessThan(12);
    given.purse.put(OUTPUT_NANO * 20n);
    expect(await deliver(given, 100)).toEqual({ delivered: 32, shortage: 'out_of_money' });
  });

  it('never holds more than the response can cost', async () => {
    const given = response({ beforeTokens: 10_000_000, outputTokensAtMost: 100 });
    expect(await deliver(given, 100)).toEqual({ delivered: 100 });
    expect(given.reservation.coveredTokens).toBe(100);
    expect(given.reservation.coversWholeOutput).toBe(true);
  });

  it('ends a response that has more pieces than its maximum of tokens', async () => {
    const given = response({ beforeTokens: 10_000_000, outputTokensAtMost: 100 });
    expect(await deliver(given, 200)).toEqual({ delivered: 100, shortage: 'out_of_tokens' });
  });

  it('ends a response with more bytes than its tokens can have, before delivering and charging it', async () => {
    const given = response({ beforeTokens: 10_000_000, outputTokensAtMost: 100 });
    given.meter.addMessage({ content: 'x'.repeat(16_000_000) });
    expect(await given.ahead.reach(given.meter)).toBe('out_of_tokens');
    expect(given.reservation.coveredTokens).toBe(64);
  });

  it('does not end a response because of long tokens, and holds no more than it can cost', async () => {
    const given = response({ beforeTokens: 10_000_000, outputTokensAtMost: 10 });
    given.meter.addMessage({ content: 'x'.repeat(600) });
    expect(await given.ahead.reach(given.meter)).toBeUndefined();
    expect(given.purse.amounts).toEqual([]);
  });

  describe('while the ledger is unavailable', () => {
    it('continues with what is held', async () => {
      const given = response({ beforeTokens: 10_000, heldTokens: 64, ledgerTimeoutMs: 1 });
      given.purse.away = 1_000;
      expect(await deliver(given, 64)).toEqual({ delivered: 64 });
    });

    it('waits when the hold is used up, and continues once the ledger is back', async () => {
      const given = response({ beforeTokens: 10_000, heldTokens: 64 });
      given.purse.away = 8;
      expect(await deliver(given, 200)).toEqual({ delivered: 200 });
    });

    it('waits no longer than its timeout', async () => {
      const given = response({ beforeTokens: 10_000, heldTokens: 64, ledgerTimeoutMs: 150 });
      given.purse.away = 1_000;
      await expect(deliver(given, 200)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    it('stops waiting when its client disconnects', async () => {
      const given = response({ beforeTokens: 10_000, heldTokens: 64 });
      given.purse.away = 1_000;
      const delivered = deliver(given, 200);
      setTimeout(() => given.leaving.abort(), 50);
      await expect(delivered).rejects.toMatchObject({ name: 'AbortError' });
    });
  });
});
