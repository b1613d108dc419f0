import type { Balances } from '@svc/contracts/money';
import { type Extension, HOLDS_PER_RENEWAL, type Hold, type HoldRequest, Ledger } from '@svc/contracts/ports';
import { MemoryHoldBook } from '@svc/hold-book';
import { describe, expect, it } from 'vitest';
import { RenewingLedger } from './renewing-ledger.js';

const ACCOUNT = 'a';
const REQUEST: HoldRequest = { requestId: 'r', accountId: ACCOUNT, keyId: 'k', amountNano: 10n };
const ALL = { usdNano: 100n, diemNano: 0n };

/** A ledger behind a network on which renewals can arrive late. */
class LateRenewals extends Ledger {
  readonly book = new MemoryHoldBook(
    {
      balances: () => Promise.resolve({ accountId: ACCOUNT, version: 1n, balances: ALL }),
      spentOf: () => Promise.reject(new Error('no key has a limit')),
    },
    { leaseMs: 1_000, maxAccounts: 10, maxHolds: 10_000 },
  );
  arrive: () => void = () => undefined;

  override hold(request: HoldRequest): Hold | Promise<Hold> {
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

  override async settle(hold: Hold): Promise<void> {
    await this.book.settle(hold, { usdNano: 1n, diemNano: 0n });
  }

  override release(hold: Hold): Promise<void> | undefined {
    return this.book.release(hold);
  }
}

/** A ledger that can't reach what it needs for one hold. */
class PartAway extends LateRenewals {
  readonly renewed: string[] = [];

  override renew(holds: readonly Hold[]): Promise<void> {
    if (holds.some(({ requestId }) => requestId === 'away')) return Promise.reject(new Error('it is away'));
    this.renewed.push(...holds.map(({ requestId }) => requestId));
    return Promise.resolve();
  }
}

const log = { warn: () => undefined, error: () => undefined };

function ledgers(): { late: LateRenewals; ledger: RenewingLedger } {
  const late = new LateRenewals();
  return { late, ledger: new RenewingLedger(late, { leaseMs: 1_000, maxMs: 60_000 }, log) };
}

describe('a renewal that arrives after its hold has ended', () => {
  it('does not hold again what was released', async () => {
    const { late, ledger } = ledgers();
    const hold = await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    await ledger.release(hold);
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual(ALL);
  });

  it('does not change a settled hold that waits for its posting', async () => {
    const { late, ledger } = ledgers();
    const hold = await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    await ledger.settle(hold, {} as never);
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual({ ...ALL, usdNano: 99n });
  });

  it('keeps a live hold', async () => {
    const { late, ledger } = ledgers();
    await ledger.hold(REQUEST);
    const renewed = ledger.renewAll();
    late.arrive();
    await renewed;
    expect(await ledger.available(ACCOUNT)).toEqual({ ...ALL, usdNano: 90n });
    expect(ledger.size).toBe(1);
  });
});

it('a failing renewal does not stop the others, and is logged once', async () => {
  const part = new PartAway();
  const warnings: unknown[] = [];
  const warn = (...entry: unknown[]): void => void warnings.push(entry);
  const ledger = new RenewingLedger(part, { leaseMs: 1_000, maxMs: 60_000 }, { ...log, warn });
  const others = Array.from({ length: 2 * HOLDS_PER_RENEWAL }, (_, index) => `r${index}`);
  for (const requestId of ['away', ...others]) await ledger.hold({ ...REQUEST, requestId, amountNano: 0n });
  await ledger.renewAll();
  expect(part.renewed).toEqual(others.slice(HOLDS_PER_RENEWAL - 1));
  expect(warnings).toHaveLength(1);
});
