import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  type Account,
  type AccountList,
  AccountQuery,
  type AccountWithBalances,
  type CreatedApiKey,
  type ListedAccount,
  NewAccount,
  NewCredit,
  type TransferList,
  TransferQuery,
  type TransferView,
} from '@svc/api/operator';
import { Accounting } from '@svc/contracts/accounting';
import { Books } from '@svc/contracts/ports';
import { NewApiKey } from '@svc/api/keys';
import { Problem } from '@svc/contracts/problems';
import { parseUsd } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { ApiKeys } from '../keys/api-keys.js';
import { amounts, transferView } from './transfer-view.js';

/** The operator's view of accounts: opening them, crediting them, giving them keys, reading their history. */
@Controller()
export class AccountsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeys,
    private readonly books: Books,
    private readonly accounting: Accounting,
  ) {}

  @Serves(routes.listAccounts)
  async list(@Query() query: AccountQuery): Promise<AccountList> {
    const data = await this.withBalances(await this.accounts.list(query));
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
    return { ...account, balances: amounts(await this.books.balances(account.id)) };
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
    @Query() { before, from, until, kind, limit }: TransferQuery,
  ): Promise<TransferList> {
    await this.accounts.get(id);
    const transfers = await this.books.transfers(id, {
      limit,
      ...(before !== undefined && { before: BigInt(before) }),
      ...(kind !== undefined && { kind }),
      ...(from !== undefined && { from: new Date(from) }),
      ...(until !== undefined && { until: new Date(until) }),
    });
    const last = transfers.at(-1);
    const nextBefore = last && transfers.length === limit ? last.id.toString() : null;
    return { object: 'list', data: transfers.map(transferView), nextBefore };
  }

  private async withBalances(accounts: readonly Account[]): Promise<ListedAccount[]> {
    try {
      const balances = await this.accounting.balances(accounts.map(({ id }) => id));
      return accounts.map((account, index) => {
        const found = balances[index];
        return { ...account, balances: found ? amounts(found) : null };
      });
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'UNAVAILABLE')) throw error;
      return accounts.map((account) => ({ ...account, balances: null }));
    }
  }
}
