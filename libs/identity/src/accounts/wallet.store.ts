import { Injectable } from '@nestjs/common';
import { walletAccountId } from '@svc/contracts/ports';
import { Database } from '@svc/storage';
import type { AccountRow } from './account-rows.js';

/** A nonce is stored for longer than its sign-in is valid, even if clocks differ by minutes. */
const REMEMBERED_SECONDS = 900;

/** The data of a wallet whose sign-in was verified. */
export interface WalletFound {
  /** Whether the nonce was new. True for only one of several concurrent attempts. */
  readonly isFresh: boolean;
  /** The operator's settings of its account, if the operator has created it. */
  readonly account: AccountRow | undefined;
}

interface EntryRow {
  readonly fresh: boolean;
  readonly account: AccountRow | null;
}

/** Stores the nonces of sign-ins, and reads the accounts of wallets. */
@Injectable()
export class WalletStore {
  constructor(private readonly database: Database) {}

  /** Uses up a nonce, which can be done once across all processes. */
  async enter(wallet: string, nonce: string): Promise<WalletFound> {
    const [row] = await this.database.query<EntryRow>(ENTER, [
      wallet,
      nonce,
      walletAccountId(wallet),
      REMEMBERED_SECONDS,
    ]);
    return { isFresh: row?.fresh ?? false, account: row?.account ?? undefined };
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
      'suspendedAt', suspended_at, 'userKey', user_key, 'limitsUsers', limits_users, 'fallbackModels', fallback_models, 'fallbackOn', fallback_on, 'limits', (
      SELECT coalesce(json_agg(json_build_object('model', model, 'requestsPerMinute', requests_per_minute,
        'tokensPerMinute', tokens_per_minute) ORDER BY model), '[]')
      FROM gateway.account_limits WHERE account_id = id
    )) FROM gateway.accounts WHERE id = $3::uuid
  ) AS account`;
