import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Account, type NewAccount, Problem } from '@svc/contracts';
import { PrismaDatabase } from '@svc/storage';

/** Accounts: who pays. What they have is the ledger's. */
@Injectable()
export class AccountStore {
  constructor(private readonly database: PrismaDatabase) {}

  async create({ name, tier, paid }: NewAccount, id: string = randomUUID()): Promise<Account> {
    const account = { id, name, tier, paid };
    await this.database.account.create({ data: account });
    return account;
  }

  /** The account of this id, as it is or made like this. */
  async ensure({ name, tier, paid }: NewAccount, id: string): Promise<Account> {
    const row = await this.database.account.upsert({
      where: { id },
      update: {},
      create: { id, name, tier, paid },
    });
    return Account.parse(row);
  }

  /** Refuses: ACCOUNT_NOT_FOUND. */
  async get(id: string): Promise<Account> {
    const row = await this.database.account.findUnique({ where: { id } });
    if (!row) throw new Problem('ACCOUNT_NOT_FOUND', { param: 'id' });
    return Account.parse(row);
  }

  /** Whether this account, or any at all, exists. */
  async exists(id?: string): Promise<boolean> {
    const row = await this.database.account.findFirst({
      ...(id !== undefined && { where: { id } }),
      select: { id: true },
    });
    return row !== null;
  }
}
