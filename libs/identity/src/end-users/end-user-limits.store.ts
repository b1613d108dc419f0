import { Injectable } from '@nestjs/common';
import type { Limit, SpendingLimit } from '@svc/contracts/ports';
import { keyChanged } from '@svc/contracts/messages';
import { type RunStatement, addToOutbox } from '@svc/events';
import { PrismaDatabase } from '@svc/storage';
import { z } from 'zod';
import { Nano, type UseLimits, rateLimits, spendingLimit, useColumns } from '../accounts/use-limits.js';

/** Each end user of an account that has no limits of its own. */
export const EACH_USER = '*';

/** The limits of an end user, as the limiter and the ledger take them. */
export interface UserLimits {
  readonly userLimits?: readonly Limit[];
  readonly userSpending?: SpendingLimit;
}

const TermsRow = z.object({
  ...useColumns,
  usdLimitNano: Nano.nullable(),
  diemLimitNano: Nano.nullable(),
});

/** The limits that accounts set for their end users. */
@Injectable()
export class EndUserLimitsStore {
  constructor(private readonly prisma: PrismaDatabase) {}

  /** Those of one end user, or of each. */
  async get(accountId: string, endUser: string): Promise<UseLimits | undefined> {
    const row = await this.prisma.endUserLimit.findUnique({
      where: { accountId_endUser: { accountId, endUser } },
    });
    return row ? TermsRow.parse(row) : undefined;
  }

  /** Those that hold for an end user: its own, or else those of each. */
  async of(accountId: string, endUser: string): Promise<UserLimits> {
    const rows = await this.prisma.endUserLimit.findMany({
      where: { accountId, endUser: { in: [endUser, EACH_USER] } },
    });
    const row = rows.find((each) => each.endUser === endUser) ?? rows[0];
    return row ? limitsOf(TermsRow.parse(row)) : {};
  }

  /** Replaces the limits of an end user, or removes them, and adds an event to the outbox. */
  async set(accountId: string, endUser: string, terms: UseLimits | undefined): Promise<void> {
    await this.prisma.$transaction(async (transaction) => {
      // Comes first: its row lock serializes concurrent changes.
      await transaction.account.update({ where: { id: accountId }, data: { limitsUsers: true } });
      await transaction.endUserLimit.deleteMany({ where: { accountId, endUser } });
      if (terms) await transaction.endUserLimit.create({ data: { accountId, endUser, ...columnsOf(terms) } });
      else if ((await transaction.endUserLimit.count({ where: { accountId } })) === 0)
        await transaction.account.update({ where: { id: accountId }, data: { limitsUsers: false } });
      const run: RunStatement = (sql, values) => transaction.$executeRawUnsafe(sql, ...values);
      await addToOutbox(run, keyChanged, { accountId });
    });
  }
}

const columnsOf = ({ usdLimitNano, diemLimitNano, ...others }: UseLimits) => ({
  ...others,
  usdLimitNano: usdLimitNano?.toString() ?? null,
  diemLimitNano: diemLimitNano?.toString() ?? null,
});

function limitsOf(terms: UseLimits): UserLimits {
  const limits = rateLimits('end_user', terms);
  const userSpending = spendingLimit(terms);
  return { ...(limits.length > 0 && { userLimits: limits }), ...(userSpending && { userSpending }) };
}
