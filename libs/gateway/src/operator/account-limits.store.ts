import { Injectable } from '@nestjs/common';
import { type AccountLimits, Problem, keyChanged } from '@svc/contracts';
import { type RunStatement, addToOutbox } from '@svc/events';
import { PrismaDatabase } from '@svc/storage';
import { minuteLimits } from '../limits/account-rows.js';

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

  /** Replaces what was set before and notes the event of it. The account has to exist. */
  async replace(accountId: string, { concurrentRequests, models }: AccountLimits): Promise<void> {
    const data = models.map((limits) => ({ accountId, ...limits }));
    await this.database.$transaction(async (transaction) => {
      // First, so that those who replace at the same time take turns.
      await transaction.account.update({ where: { id: accountId }, data: { concurrentRequests } });
      await transaction.accountLimit.deleteMany({ where: { accountId } });
      await transaction.accountLimit.createMany({ data });
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId });
    });
  }
}
