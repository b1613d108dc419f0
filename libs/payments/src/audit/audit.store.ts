import type { AuditScope, PaymentState } from '@svc/contracts/ports';
import type { Database } from '@svc/storage';
import type { Blocks } from '../chains/chain.js';
import {
  OPEN,
  type Payment,
  type PaymentRow,
  type SettledTransfer,
  paymentOf,
} from '../records/payment.store.js';

/** A payment as the audit sees it. */
export interface AuditedPayment {
  readonly id: string;
  readonly number: bigint;
  readonly state: PaymentState;
  readonly network: string;
  readonly wallet: string;
  readonly accountId: string;
  readonly transaction: string;
  readonly units: bigint;
  readonly reversals: number;
  /** Whether it arrived or was sent so recently that its credit may still be under way. */
  readonly isRecent: boolean;
}

interface AuditedRow {
  readonly id: string;
  readonly number: bigint;
  readonly state: PaymentState;
  readonly network: string;
  readonly wallet: string;
  readonly account_id: string;
  readonly transaction: string | null;
  readonly units: bigint;
  readonly reversals: number;
  readonly is_recent: boolean;
}

/** A payment is normally credited within this time; no payment alert fires earlier. */
const RECENT = `greatest(created_at, broadcast_at) > now() - interval '15 minutes'`;

const COLUMNS = `id, number, state, network, wallet, account_id, transaction,
  coalesce(settled_units, amount_units) AS units, reversals, ${RECENT} AS is_recent`;

/** Maximum number of undecided payments read per audit. */
const UNDECIDED_MOST = 100;

/** Where an audit of a rail continues: everything before was proved. */
export interface PaymentsMark {
  readonly block: bigint;
  readonly transferId: bigint;
  readonly provedAt: Date;
}

/** Changes under way when a mark was stored are checked again. */
const OVERLAP = `interval '10 minutes'`;

/** The reads and marks of payment audits. */
export class PaymentAuditStore {
  constructor(private readonly database: Database) {}

  /** Credited payments that the chain has in these blocks. */
  creditedIn(network: string, { from, to }: Blocks): Promise<AuditedPayment[]> {
    return this.read('network = $1 AND settled_block BETWEEN $2 AND $3', `AND state = 'CREDITED'`, [
      network,
      from,
      to,
    ]);
  }

  byTransactions(network: string, transactions: readonly string[]): Promise<AuditedPayment[]> {
    return this.read('network = $1 AND transaction = ANY($2::text[])', '', [network, transactions]);
  }

  byIds(ids: readonly string[]): Promise<AuditedPayment[]> {
    return this.read('id = ANY($1::text[])', '', [ids]);
  }

  /** Payments with bookings, in order: all, or those changed since a time. */
  booked(
    network: string,
    { after, since, limit }: { after: bigint; since?: Date; limit: number },
  ): Promise<AuditedPayment[]> {
    return this.read(
      'network = $1 AND number > $2 AND ($3::timestamptz IS NULL OR updated_at > $3::timestamptz - ' +
        OVERLAP +
        ')',
      `AND (state = 'CREDITED' OR reversals > 0) ORDER BY number LIMIT $4`,
      [network, after, since, limit],
    );
  }

  /** Payments whose outcome the chain does not show, oldest first. */
  undecided(network: string): Promise<AuditedPayment[]> {
    return this.read('network = $1', `AND state = 'UNKNOWN' ORDER BY number LIMIT $2`, [
      network,
      UNDECIDED_MOST,
    ]);
  }

  /** Payments that are credited or should be by now, in order: all, or those changed since a time. */
  async dueSince(
    network: string,
    { after, since, limit }: { after: bigint; since?: Date; limit: number },
  ): Promise<(Payment & { readonly number: bigint })[]> {
    const rows = await this.database.query<PaymentRow & { readonly number: bigint }>(
      `SELECT * FROM payments.payments WHERE network = $1 AND number > $2
         AND (state = 'CREDITED' OR (state IN ${OPEN} AND state <> 'UNKNOWN' AND NOT ${RECENT}))
         AND ($3::timestamptz IS NULL OR updated_at > $3::timestamptz - ${OVERLAP}) ORDER BY number LIMIT $4`,
      [network, after, since, limit],
    );
    return rows.map((row) => ({ ...paymentOf(row), number: row.number }));
  }

  /**
   * Whether an incoming transfer may belong to a payment of this wallet and amount that is recent, or that
   * the audit reports anyway.
   */
  async isUnderWay(network: string, wallet: string, units: bigint): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT FROM payments.payments WHERE network = $1 AND wallet = $2 AND amount_units = $3
         AND state IN ${OPEN} AND (${RECENT} OR state = 'UNKNOWN') LIMIT 1`,
      [network, wallet, units],
    );
    return rows.length > 0;
  }

  /** The last block at the time of the first payment. */
  async firstBlock(network: string): Promise<bigint | undefined> {
    const [row] = await this.database.query<{ block: bigint | null }>(
      'SELECT min(least(seen_block, settled_block)) AS block FROM payments.payments WHERE network = $1',
      [network],
    );
    return row?.block ?? undefined;
  }

  /** Credited payments without a recorded block. */
  async unplaced(network: string, limit: number): Promise<Payment[]> {
    const rows = await this.database.query<PaymentRow>(
      `SELECT * FROM payments.payments WHERE network = $1 AND state = 'CREDITED' AND settled_block IS NULL LIMIT $2`,
      [network, limit],
    );
    return rows.map(paymentOf);
  }

  async place(id: string, { block, blockHash }: SettledTransfer): Promise<void> {
    await this.database.query(
      'UPDATE payments.payments SET settled_block = $2, settled_block_hash = $3 WHERE id = $1',
      [id, block, blockHash],
    );
  }

  async now(): Promise<Date> {
    const [row] = await this.database.query<{ now: Date }>('SELECT now() AS now');
    return row?.now ?? new Date();
  }

  /** Where the last clean audit of either scope ended. */
  async mark(network: string): Promise<PaymentsMark | undefined> {
    const [row] = await this.database.query<{ block: bigint; transfer_id: bigint; proved_at: Date }>(
      `SELECT block, transfer_id, proved_at FROM payments.audit_marks
       WHERE network = $1 AND proved_at IS NOT NULL ORDER BY proved_at DESC LIMIT 1`,
      [network],
    );
    return row && { block: row.block, transferId: row.transfer_id, provedAt: row.proved_at };
  }

  async keepMark(
    network: string,
    scope: AuditScope,
    { block, transferId, provedAt }: PaymentsMark,
  ): Promise<void> {
    await this.database.query(
      `INSERT INTO payments.audit_marks (network, scope, block, transfer_id, proved_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (network, scope) DO UPDATE SET block = excluded.block, transfer_id = excluded.transfer_id,
         proved_at = excluded.proved_at`,
      [network, scope, block, transferId, provedAt],
    );
  }

  private async read(where: string, more: string, values: readonly unknown[]): Promise<AuditedPayment[]> {
    const rows = await this.database.query<AuditedRow>(
      `SELECT ${COLUMNS} FROM payments.payments WHERE ${where} ${more}`,
      [...values],
    );
    return rows.map(({ account_id: accountId, transaction, is_recent: isRecent, ...row }) => ({
      ...row,
      accountId,
      isRecent,
      transaction: transaction ?? '',
    }));
  }
}
