import { Injectable } from '@nestjs/common';
import type { AccountLimits } from '@svc/api/keys';
import { Problem } from '@svc/contracts/problems';
import { keyChanged } from '@svc/contracts/messages';
import { type RunStatement, addToOutbox } from '@svc/events';
import { PrismaDatabase } from '@svc/storage';

/** The limits that the operator sets for an account in place of its tier's. */
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
    const models = row.limits.map(({ model, requestsPerMinute, tokensPerMinute }) => ({
      model,
      ...(requestsPerMinute !== null && { requestsPerMinute }),
      ...(tokensPerMinute !== null && { tokensPerMinute }),
    }));
    return { concurrentRequests: row.concurrentRequests, models };
  }

  /** Replaces the account's limits and adds an event to the outbox. The account must exist. */
  async replace(accountId: string, { concurrentRequests, models }: AccountLimits): Promise<void> {
    const data = models.map((limits) => ({ accountId, ...limits }));
    await this.database.$transaction(async (transaction) => {
      // Comes first: its row lock serializes concurrent replacements.
      await transaction.account.update({ where: { id: accountId }, data: { concurrentRequests } });
      await transaction.accountLimit.deleteMany({ where: { accountId } });
      await transaction.accountLimit.createMany({ data });
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId });
    });
  }
}
