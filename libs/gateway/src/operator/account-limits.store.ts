import { Injectable } from '@nestjs/common';
import { type AccountLimits, Problem } from '@svc/contracts';
import { PrismaDatabase } from '@svc/storage';
import { minuteLimits } from '../auth/key-rows.js';

/** What the operator sets for an account in place of the limits of its tier. */
@Injectable()
export class AccountLimitsStore {
  constructor(private readonly database: PrismaDatabase) {}

  /** Refuses: ACCOUNT_NOT_FOUND. */
  async get(id: string): Promise<AccountLimits> {
    const row = await this.database.account.findUnique({
      where: { id },
      include: { limits: { orderBy: { model: 'asc' } } },
    });
    if (!row) throw new Problem('ACCOUNT_NOT_FOUND', { param: 'id' });
    const models = row.limits.map(({ model, ...limits }) => ({ model, ...minuteLimits(limits) }));
    return { concurrentRequests: row.concurrentRequests, models };
  }

  /** Replaces what was set before. The account has to exist. */
  async replace(accountId: string, { concurrentRequests, models }: AccountLimits): Promise<void> {
    const data = models.map((limits) => ({ accountId, ...limits }));
    await this.database.$transaction([
      // First, so that those who replace at the same time take turns.
      this.database.account.update({ where: { id: accountId }, data: { concurrentRequests } }),
      this.database.accountLimit.deleteMany({ where: { accountId } }),
      this.database.accountLimit.createMany({ data }),
    ]);
  }
}
