import { Body, Controller, Param } from '@nestjs/common';
import { type Balances, parseUsd } from '@svc/contracts/money';
import { Books } from '@svc/contracts/ports';
import { NewRefund, type RefundTransfers } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { transferView } from './transfer-view.js';

/** Refunds what requests cost. */
@Controller()
export class RefundsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly books: Books,
  ) {}

  @Serves(routes.refundCharge)
  async refund(
    @Param() { id }: { id: string },
    @Body() { requestId, reference, usd, diem }: NewRefund,
  ): Promise<RefundTransfers> {
    await this.accounts.get(id);
    const amount = amountOf({ usd, diem });
    const refund = { accountId: id, requestId, reference, ...(amount && { amount }) };
    const transfers = await this.books.refund(refund);
    return { object: 'list', data: transfers.map(transferView) };
  }
}

/** Undefined without any currency; a currency missing beside the other counts as 0. */
function amountOf({ usd, diem }: Pick<NewRefund, 'usd' | 'diem'>): Balances | undefined {
  if (usd === undefined && diem === undefined) return undefined;
  return { usdNano: parseUsd(usd ?? '0') ?? 0n, diemNano: parseUsd(diem ?? '0') ?? 0n };
}
