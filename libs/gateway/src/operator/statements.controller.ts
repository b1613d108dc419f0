import { Controller, Query } from '@nestjs/common';
import { Accounting, type SpenderList, SpenderQuery, routes } from '@svc/contracts';
import { Serves } from '@svc/runtime';
import { AccountStore } from '../accounts/account.store.js';
import { amounts } from './transfer-view.js';

/** Sums of the books, for operators and their accountants. */
@Controller()
export class StatementsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly accounting: Accounting,
  ) {}

  @Serves(routes.listSpenders)
  async spenders(@Query() query: SpenderQuery): Promise<SpenderList> {
    const spenders = await this.accounting.spenders(query);
    const names = await this.accounts.names(spenders.map(({ accountId }) => accountId));
    const data = spenders.map(({ accountId, tokens, charged, refunded }) => ({
      accountId,
      name: names.get(accountId) ?? null,
      tokens: Number(tokens),
      charged: amounts(charged),
      refunded: amounts(refunded),
    }));
    return { object: 'list', data };
  }
}
