import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  type Account,
  type AccountList,
  AccountQuery,
  type AccountWithBalances,
  Books,
  type CreatedApiKey,
  NewAccount,
  NewApiKey,
  NewCredit,
  type TransferList,
  TransferQuery,
  type TransferView,
  formatUsd,
  parseUsd,
  routes,
} from '@svc/contracts';
import { Serves } from '@svc/runtime';
import { AccountStore } from '../accounts/account.store.js';
import { ApiKeys } from '../keys/api-keys.js';
import { transferView } from './transfer-view.js';

/** The operator's view of accounts: opening them, crediting them, giving them keys, reading their history. */
@Controller()
export class AccountsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeys,
    private readonly books: Books,
  ) {}

  @Serves(routes.listAccounts)
  async list(@Query() query: AccountQuery): Promise<AccountList> {
    const data = await this.accounts.list(query);
    const nextBefore = data.length === query.limit ? (data.at(-1)?.id ?? null) : null;
    return { object: 'list', data, nextBefore };
  }

  @Serves(routes.createAccount)
  create(@Body() account: NewAccount): Promise<Account> {
    const { wallet } = account;
    if (wallet === undefined) return this.accounts.create(account);
    return this.accounts.ensure(account, wallet);
  }

  @Serves(routes.getAccount)
  async get(@Param() { id }: { id: string }): Promise<AccountWithBalances> {
    const account = await this.accounts.get(id);
    const { usdNano, diemNano } = await this.books.balances(account.id);
    return { ...account, balances: { usd: formatUsd(usdNano), diem: formatUsd(diemNano) } };
  }

  @Serves(routes.creditAccount)
  async credit(
    @Param() { id }: { id: string },
    @Body() { usd, reference }: NewCredit,
  ): Promise<TransferView> {
    await this.accounts.get(id);
    return transferView(await this.books.credit({ accountId: id, usdNano: parseUsd(usd) ?? 0n, reference }));
  }

  @Serves(routes.createAccountKey)
  async createKey(@Param() { id }: { id: string }, @Body() key: NewApiKey): Promise<CreatedApiKey> {
    await this.accounts.get(id);
    const { key: made, secret: apiKey } = await this.keys.create(id, key);
    const { apiKeyType, description, last6: last6Chars } = made;
    return { id: made.id, apiKey, apiKeyType, description, last6Chars };
  }

  @Serves(routes.listTransfers)
  async transfers(
    @Param() { id }: { id: string },
    @Query() { limit, before }: TransferQuery,
  ): Promise<TransferList> {
    await this.accounts.get(id);
    const page = before === undefined ? { limit } : { limit, before: BigInt(before) };
    const transfers = await this.books.transfers(id, page);
    const last = transfers.at(-1);
    const nextBefore = last && transfers.length === limit ? last.id.toString() : null;
    return { object: 'list', data: transfers.map(transferView), nextBefore };
  }
}
