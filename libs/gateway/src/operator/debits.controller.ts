import { Body, Controller, Param } from '@nestjs/common';
import { Books } from '@svc/contracts/ports';
import { NewCreditReversal, NewDebit, type TransferView } from '@svc/api/operator';
import { parseUsd } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { transferView } from './transfer-view.js';

/** Takes money from accounts. The reasons are kept in the log of operator actions. */
@Controller()
export class DebitsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly books: Books,
  ) {}

  @Serves(routes.debitAccount)
  async debit(@Param() { id }: { id: string }, @Body() { usd, reference }: NewDebit): Promise<TransferView> {
    await this.accounts.get(id);
    return transferView(await this.books.debit({ accountId: id, usdNano: parseUsd(usd) ?? 0n, reference }));
  }

  @Serves(routes.reverseCredit)
  async reverse(
    @Param() { id }: { id: string },
    @Body() { reference }: NewCreditReversal,
  ): Promise<TransferView> {
    await this.accounts.get(id);
    return transferView(await this.books.reverse({ accountId: id, reference }));
  }
}
