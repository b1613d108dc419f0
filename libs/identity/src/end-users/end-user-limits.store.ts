import { Injectable } from '@nestjs/common';
import {
  type Limit,
  LIMIT_PERIODS,
  type LimitPeriod,
  type SpendingLimit,
  perDay,
  perMinute,
} from '@svc/contracts/ports';
import { keyChanged } from '@svc/contracts/messages';
import { type RunStatement, addToOutbox } from '@svc/events';
import { PrismaDatabase } from '@svc/storage';
import { z } from 'zod';

/** Each end user of an account that has no limits of its own. */
export const EACH_USER = '*';

/** What an account lets an end user do. Null is no limit. */
export interface UserTerms {
  readonly usdLimitNano: bigint | null;
  readonly diemLimitNano: bigint | null;
  readonly limitPeriod: LimitPeriod;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly tokensPerDay: number | null;
}

/** The limits of an end user, as the limiter and the ledger take them. */
export interface UserLimits {
  readonly userLimits?: readonly Limit[];
  readonly userSpending?: SpendingLimit;
}

/** A `NUMERIC` without decimals, as a bigint. */
const Nano = z.custom<{ toFixed(decimals: number): string }>().transform((value) => BigInt(value.toFixed(0)));

const TermsRow = z.object({
  usdLimitNano: Nano.nullable(),
  diemLimitNano: Nano.nullable(),
  limitPeriod: z.enum(LIMIT_PERIODS),
  requestsPerMinute: z.int().nullable(),
  tokensPerMinute: z.int().nullable(),
  requestsPerDay: z.int().nullable(),
  tokensPerDay: z.int().nullable(),
});

/** The limits that accounts set for their end users. */
@Injectable()
export class EndUserLimitsStore {
  constructor(private readonly prisma: PrismaDatabase) {}

  /** Those of one end user, or of each. */
  async get(accountId: string, endUser: string): Promise<UserTerms | undefined> {
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
  async set(accountId: string, endUser: string, terms: UserTerms | undefined): Promise<void> {
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

const columnsOf = ({ usdLimitNano, diemLimitNano, ...others }: UserTerms) => ({
  ...others,
  usdLimitNano: usdLimitNano?.toString() ?? null,
  diemLimitNano: diemLimitNano?.toString() ?? null,
});

function limitsOf(terms: UserTerms): UserLimits {
  const { usdLimitNano, diemLimitNano, limitPeriod: period } = terms;
  const limits = [...perMinute('end_user', terms), ...perDay('end_user', terms)];
  const isSpendingLimited = usdLimitNano !== null || diemLimitNano !== null;
  return {
    ...(limits.length > 0 && { userLimits: limits }),
    ...(isSpendingLimited && {
      userSpending: {
        period,
        ...(usdLimitNano !== null && { usdNano: usdLimitNano }),
        ...(diemLimitNano !== null && { diemNano: diemLimitNano }),
      },
    }),
  };
}
