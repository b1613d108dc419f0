import type { Currency } from '@svc/contracts/money';
import type { TransferKind } from '@svc/contracts/ports';
import { Database } from '@svc/storage';

export interface MovedRow {
  readonly id: bigint;
  readonly account_id: string;
  readonly kind: TransferKind;
  readonly currency: Currency;
  readonly amount_nano: bigint;
  readonly reference: string;
  readonly at: Date;
}

export interface AccountRow {
  readonly id: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly version: bigint;
}

export interface ChargeRow {
  readonly account_id: string;
  readonly request_id: string;
  readonly key_id: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly write_off_nano: bigint;
}

export interface UsageRow {
  readonly account_id: string;
  readonly day: string;
  readonly key_id: string;
  readonly sku: string;
  readonly units: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
}

/** The initial state of an account. */
export interface FirstBalance {
  readonly accountId: string;
  readonly usdNano: bigint;
  readonly tokensNano: bigint;
  readonly day: string;
}

/** Creates all accounts with their initial state, in one statement. */
const BEGIN = `
  WITH first AS (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::date[]) AS first (id, usd, tokens, day)
  ), account AS (
    INSERT INTO ledger.accounts (id, usd_nano, diem_nano, version) SELECT id, usd, tokens, 1 FROM first
  ), stake AS (
    INSERT INTO ledger.stakes (account_id, tokens_nano, granted_on) SELECT id, tokens, day FROM first
  ), transfer AS (
    INSERT INTO ledger.transfers (at, account_id, kind, debit_account, credit_account, currency, amount_nano, reference)
    SELECT now(), id, 'credit', 'deposits:operator', 'customer:' || id, 'USD', usd, 'first' FROM first WHERE usd > 0
    UNION ALL
    SELECT now(), id, 'grant', 'staking', 'customer:' || id, 'DIEM', tokens, day::text FROM first WHERE tokens > 0
    RETURNING *
  )
  INSERT INTO ledger.transfer_references (account_id, kind, currency, reference, transfer_id, at)
  SELECT account_id, kind, currency, reference, id, at FROM transfer`;

/** Reads the books for many accounts at once. */
export class HistoryRows {
  constructor(private readonly database: Database) {}

  async begin(firsts: readonly FirstBalance[]): Promise<void> {
    await this.database.query(BEGIN, [
      firsts.map(({ accountId }) => accountId),
      firsts.map(({ usdNano }) => usdNano),
      firsts.map(({ tokensNano }) => tokensNano),
      firsts.map(({ day }) => day),
    ]);
  }

  async lastTransfer(): Promise<bigint> {
    const [row] = await this.database.query<{ id: bigint | null }>(
      'SELECT max(id) AS id FROM ledger.transfers',
    );
    return row?.id ?? 0n;
  }

  accounts(accountIds: readonly string[]): Promise<AccountRow[]> {
    return this.database.query<AccountRow>(
      'SELECT id, usd_nano, diem_nano, version FROM ledger.accounts WHERE id = ANY($1::uuid[])',
      [accountIds],
    );
  }

  /** The transfers after the given one, in order. */
  moved(accountIds: readonly string[], after: bigint): Promise<MovedRow[]> {
    return this.database.query<MovedRow>(
      `SELECT id, account_id, kind, currency, amount_nano, reference, at FROM ledger.transfers
       WHERE account_id = ANY($1::uuid[]) AND id > $2 ORDER BY id`,
      [accountIds, after],
    );
  }

  charges(accountIds: readonly string[]): Promise<ChargeRow[]> {
    return this.database.query<ChargeRow>(
      `SELECT account_id, request_id, key_id, usd_nano, diem_nano, write_off_nano FROM ledger.charges
       WHERE account_id = ANY($1::uuid[])`,
      [accountIds],
    );
  }

  usage(accountIds: readonly string[]): Promise<UsageRow[]> {
    return this.database.query<UsageRow>(
      `SELECT account_id, day::text, key_id, sku, units, usd_nano, diem_nano FROM ledger.usage_days
       WHERE account_id = ANY($1::uuid[])`,
      [accountIds],
    );
  }
}
