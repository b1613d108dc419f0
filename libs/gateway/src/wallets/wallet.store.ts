import { Injectable } from '@nestjs/common';
import { walletAccountId } from '@svc/contracts';
import { Database } from '@svc/storage';
import type { AccountRow } from '../limits/account-rows.js';

/** A nonce is remembered for longer than its sign-in can be used, on clocks that are minutes apart. */
const REMEMBERED_SECONDS = 900;

/** Rows that one statement forgets. */
const FORGOTTEN_AT_ONCE = 10_000;

/** What is known of a wallet whose sign-in was let in. */
export interface WalletFound {
  /** Whether the nonce was new: of several at once, for one only. */
  readonly isFresh: boolean;
  /** What the operator says of its account, where the operator has opened one. */
  readonly account: AccountRow | undefined;
}

interface EntryRow {
  readonly fresh: boolean;
  readonly account: AccountRow | null;
}

/** The sign-ins of wallets, and what their accounts may. */
@Injectable()
export class WalletStore {
  constructor(private readonly database: Database) {}

  /** Takes a nonce, which can be taken once, whichever process is asked. */
  async enter(wallet: string, nonce: string): Promise<WalletFound> {
    const [row] = await this.database.query<EntryRow>(ENTER, [
      wallet,
      nonce,
      walletAccountId(wallet),
      REMEMBERED_SECONDS,
    ]);
    return { isFresh: row?.fresh ?? false, account: row?.account ?? undefined };
  }

  /** Forgets nonces whose sign-ins have long expired. How many there were, of so many at most. */
  async forget(): Promise<number> {
    const rows = await this.database.query(
      `DELETE FROM gateway.sign_in_nonces WHERE (wallet, nonce) IN (
         SELECT wallet, nonce FROM gateway.sign_in_nonces WHERE expires_at < now() LIMIT $1 FOR UPDATE SKIP LOCKED
       ) RETURNING 1`,
      [FORGOTTEN_AT_ONCE],
    );
    return rows.length;
  }
}

const ENTER = `
  WITH nonce AS (
    INSERT INTO gateway.sign_in_nonces (wallet, nonce, expires_at)
    VALUES ($1, $2, now() + $4 * interval '1 second')
    ON CONFLICT DO NOTHING RETURNING 1
  )
  SELECT EXISTS (SELECT 1 FROM nonce) AS fresh, (
    SELECT json_build_object('tier', tier, 'paid', paid, 'concurrentRequests', concurrent_requests,
      'suspendedAt', suspended_at, 'limits', (
      SELECT coalesce(json_agg(json_build_object('model', model, 'requestsPerMinute', requests_per_minute,
        'tokensPerMinute', tokens_per_minute) ORDER BY model), '[]')
      FROM gateway.account_limits WHERE account_id = id
    )) FROM gateway.accounts WHERE id = $3::uuid
  ) AS account`;
