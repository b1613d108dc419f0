import { type Balances, type Currency, NO_MONEY, minus, totalNano } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import type { TransferKind } from '@svc/contracts/ports';
import type { PostedBalances } from '@svc/hold-book';
import { REVENUE, WRITE_OFFS, customerAccount } from '../accounts/accounts.js';

/** A transfer not yet in the books. */
export interface NewTransfer {
  readonly kind: TransferKind;
  readonly debitAccount: string;
  readonly creditAccount: string;
  readonly currency: Currency;
  readonly amountNano: bigint;
  readonly reference: string;
  /** The customer whose history contains it. */
  readonly accountId: string;
  readonly at: string;
}

/** The effect of a batch of charges on the books. */
export interface Posting {
  /** As posted: what an account could not pay is part of the write-off. */
  readonly charges: readonly Charge[];
  readonly transfers: readonly NewTransfer[];
  /** The new balances of every charged account, one version higher. */
  readonly accounts: readonly PostedBalances[];
  /** Charges that exceeded both balances, and by how much. Holds prevent this, unless a hold was lost. */
  readonly clamped: { readonly charges: number; readonly nano: bigint };
}

/** Takes charges in order from the balances of their accounts. */
export function postingOf(
  charges: readonly Charge[],
  accounts: ReadonlyMap<string, PostedBalances>,
): Posting {
  const left = new Map<string, Balances>();
  const posted: Charge[] = [];
  const transfers: NewTransfer[] = [];
  const clamped = { charges: 0, nano: 0n };
  for (const charge of charges) {
    const balances = left.get(charge.accountId) ?? accounts.get(charge.accountId)?.balances ?? NO_MONEY;
    const cost = affordable(charge.cost, balances);
    const shortNano = totalNano(charge.cost) - totalNano(cost);
    if (shortNano > 0n) {
      clamped.charges += 1;
      clamped.nano += shortNano;
    }
    const asPosted =
      cost === charge.cost ? charge : { ...charge, cost, writeOffNano: charge.writeOffNano + shortNano };
    posted.push(asPosted);
    addTransfers(transfers, asPosted);
    left.set(charge.accountId, minus(balances, cost));
  }
  const after = Array.from(left, ([accountId, balances]) => ({
    accountId,
    balances,
    version: (accounts.get(accountId)?.version ?? 0n) + 1n,
  }));
  return { charges: posted, transfers, accounts: after, clamped };
}

/**
 * What the balances pay of a cost: in its own currencies as far as they go, and the rest in the other one.
 * Holds see to the currencies, unless a hold was lost or a restore posts charges again.
 */
function affordable(cost: Balances, left: Balances): Balances {
  if (cost.usdNano <= left.usdNano && cost.diemNano <= left.diemNano) return cost;
  const usdShortNano = cost.usdNano - smaller(cost.usdNano, left.usdNano);
  const diemNano = smaller(cost.diemNano + usdShortNano, left.diemNano);
  return { usdNano: smaller(totalNano(cost) - diemNano, left.usdNano), diemNano };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The transfers to revenue: from the customer by currency, and from the write-off account for the rest. */
function addTransfers(transfers: NewTransfer[], charge: Charge): void {
  const { cost, writeOffNano } = charge;
  if (cost.diemNano > 0n) transfers.push(payment(charge, 'DIEM', cost.diemNano));
  if (cost.usdNano > 0n) transfers.push(payment(charge, 'USD', cost.usdNano));
  if (writeOffNano > 0n)
    transfers.push({
      ...payment(charge, 'USD', writeOffNano),
      kind: 'write_off',
      debitAccount: WRITE_OFFS,
    });
}

const payment = (
  { accountId, requestId, at }: Charge,
  currency: Currency,
  amountNano: bigint,
): NewTransfer => ({
  kind: 'charge',
  debitAccount: customerAccount(accountId),
  creditAccount: REVENUE,
  currency,
  amountNano,
  reference: requestId,
  accountId,
  at,
});
