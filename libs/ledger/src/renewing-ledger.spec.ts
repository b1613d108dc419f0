import { type Balances, type Extension, type Hold, type HoldRequest, Ledger } from '@svc/contracts';
import { describe, expect, it } from 'vitest';
import { MemoryHoldBook } from './holds/memory-hold-book.js';
import { RenewingLedger } from './renewing-ledger.js';

const ACCOUNT = 'a';
const REQUEST: HoldRequest = { requestId: 'r', accountId: ACCOUNT, keyId: 'k', amountNano: 10n };
const ALL = { usdNano: 100n, diemNano: 0n };

/** A ledger behind a network on which renewals can come late. */
class LateRenewals extends Ledger {
  readonly book = new MemoryHoldBook(
    {
      balances: () => Promise.resolve({ accountId: ACCOUNT, version: 1n, balances: ALL }),
      keySpent: () => Promise.reject(new Error('no key has a limit')),
    },
    { leaseMs: 1_000, maxAccounts: 10, maxHolds: 10 },
  );
  arrive: () => void = () => undefined;

  override hold(request: HoldRequest): Promise<Hold> {
    return this.book.hold(request);
  }

  override available(accountId: string): Promise<Balances> {
    return this.book.available(accountId);
  }

  override extend(hold: Hold, extension: Extension): Promise<Hold> {
    return this.book.extend(hold, extension);
  }

  override async renew(holds: readonly Hold[]): Promise<void> {
    await new Promise<void>((resolve) => (this.arrive = resolve));
    await this.book.renew(holds);
  }

  override settle(hold: Hold): Promise<void> {
    return this.book.settle(hold, { usdNano: 1n, diemNano: 0n });
  }

  override release(hold: Hold): Promise<void> {
    return this.book.release(hold);
  }
}

const log = { warn: () => undefined, error: () => undefined };

function ledgers(): { late: LateRenewals; ledger: RenewingLedger } {
  const late = new LateRenewals();
  return { late, ledger: new RenewingLedger(late, { leaseMs: 1_000, maxMs: 60_000 }, log) };
}

describe('a renewal that arrives after its hold has ended', () => {
  it('holds nothing again of what was released', async () => {
    const { late, ledger } = ledgers();
    const hold = await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    await ledger.release(hold);
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual(ALL);
  });

  it('leaves what was settled and waits for its posting as it is', async () => {
    const { late, ledger } = ledgers();
    const hold = await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    await ledger.settle(hold, {} as never);
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual({ ...ALL, usdNano: 99n });
  });

  it('keeps what lives', async () => {
    const { late, ledger } = ledgers();
    await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual({ ...ALL, usdNano: 90n });
    expect(ledger.size).toBe(1);
  });
});
