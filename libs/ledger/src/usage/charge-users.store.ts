import { Injectable } from '@nestjs/common';
import type { UsageHistory, UserUsage } from '@svc/contracts/ports';
import { Database } from '@svc/storage';
import { lockAccounts } from '../accounts/accounts.store.js';
import { USER_DAYS } from '../accounts/returned-charges.store.js';
import { SnapshotStore } from './snapshot.store.js';

export type UserDays = Parameters<UsageHistory['users']>[1];
export type UsersWanted = Parameters<UsageHistory['users']>[2];

/** Rows that are forgotten at once. */
const FORGOTTEN_AT_ONCE = 10_000;

interface UserRow {
  readonly end_user: string;
  readonly requests: bigint;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

/** SQL: whether `charge` is of the end user in this parameter; true for NULL. */
export const ofUser = (parameter: string): string => `(${parameter}::text IS NULL OR EXISTS (
  SELECT FROM ledger.charge_users AS whose WHERE whose.request_id = charge.request_id AND whose.at = charge.at
    AND whose.account_id = charge.account_id AND whose.end_user = ${parameter}
))`;

/** Whose requests charges are. */
@Injectable()
export class ChargeUsersStore {
  constructor(
    private readonly snapshots: SnapshotStore,
    private readonly database: Database,
  ) {}

  async read(
    accountId: string,
    { from, until }: UserDays,
    { limit, endUser }: UsersWanted,
  ): Promise<UserUsage[]> {
    const { rows } = await this.snapshots.read((client) =>
      client.query<UserRow>(USERS, [accountId, from, until, endUser ?? null, limit]),
    );
    return rows.map((row) => ({
      endUser: row.end_user,
      requests: Number(row.requests),
      promptTokens: Number(row.prompt_tokens),
      completionTokens: Number(row.completion_tokens),
      usdNano: row.usd_nano,
      diemNano: row.diem_nano,
    }));
  }

  /** In parts, so that postings wait for none of them for long. */
  async forget(accountId: string, endUser: string): Promise<number> {
    for (let forgotten = 0; ;) {
      const part = await this.forgetPart(accountId, endUser);
      forgotten += part;
      if (part < FORGOTTEN_AT_ONCE) return forgotten;
    }
  }

  /** The last part includes the sums. No charge of the account is posted in between. */
  private forgetPart(accountId: string, endUser: string): Promise<number> {
    return this.database.transaction(async (client) => {
      await lockAccounts(client, new Set([accountId]));
      const { rowCount } = await client.query(FORGET, [accountId, endUser, FORGOTTEN_AT_ONCE]);
      const part = rowCount ?? 0;
      if (part < FORGOTTEN_AT_ONCE) await client.query(FORGET_DAYS, [accountId, endUser]);
      return part;
    });
  }
}

const FORGET = `
  DELETE FROM ledger.charge_users WHERE (request_id, at) IN (
    SELECT request_id, at FROM ledger.charge_users WHERE account_id = $1 AND end_user = $2 LIMIT $3
  )`;

const FORGET_DAYS = 'DELETE FROM ledger.user_days WHERE account_id = $1 AND end_user = $2';

const USERS = `
  SELECT end_user, sum(requests)::bigint AS requests, sum(prompt_tokens)::bigint AS prompt_tokens,
    sum(completion_tokens)::bigint AS completion_tokens, sum(usd_nano)::bigint AS usd_nano,
    sum(diem_nano)::bigint AS diem_nano
  FROM ${USER_DAYS}
  WHERE day BETWEEN $2::date AND $3::date AND ($4::text IS NULL OR end_user = $4)
  GROUP BY end_user HAVING sum(requests) > 0
  ORDER BY sum(usd_nano + diem_nano) DESC, end_user LIMIT $5`;
