import { Controller } from '@nestjs/common';
import { type Balances, type Currency, usdNumber } from '@svc/contracts/money';
import type { BillingBalance } from '@svc/api/billing';
import { Books, type Caller, Ledger } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { CallerOf } from '@svc/identity/auth';

/** Shows an account's balances. */
@Controller()
export class BillingController {
  constructor(
    private readonly books: Books,
    private readonly ledger: Ledger,
  ) {}

  /** The balances are as posted, but whether there is money to spend also depends on holds. */
  @Serves(routes.billingBalance)
  async balance(@CallerOf() { accountId }: Caller): Promise<BillingBalance> {
    const [balances, available, stake] = await Promise.all([
      this.books.balances(accountId),
      this.ledger.available(accountId),
      this.books.stake(accountId),
    ]);
    const currency = paidFirst(available);
    return {
      canConsume: currency !== null,
      consumptionCurrency: currency,
      balances: { diem: usdNumber(balances.diemNano), usd: usdNumber(balances.usdNano) },
      diemEpochAllocation: usdNumber(stake.tokensNano),
    };
  }
}

function paidFirst({ usdNano, diemNano }: Balances): Currency | null {
  if (diemNano > 0n) return 'DIEM';
  return usdNano > 0n ? 'USD' : null;
}
