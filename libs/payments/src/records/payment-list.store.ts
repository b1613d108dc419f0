import {
  BASE_NETWORK,
  type PaymentRailName,
  type PaymentRecord,
  type PaymentState,
  type PaymentTotals,
  type PaymentsWanted,
  SOLANA_NETWORK,
} from '@svc/contracts';
import type { Database } from '@svc/storage';
import type { PaymentRow } from './payment.store.js';

const NANO_PER_UNIT = 1_000n;

const NETWORKS: Readonly<Record<PaymentRailName, string>> = { base: BASE_NETWORK, solana: SOLANA_NETWORK };

interface RecordRow extends PaymentRow {
  readonly number: bigint;
  readonly network: string;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly resolution: 'credit' | 'fail' | null;
  readonly resolution_reason: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

interface TotalsRow {
  readonly network: string;
  readonly state: PaymentState;
  readonly payments: bigint;
  readonly units: string;
  readonly oldest: Date;
}

/** Payments for operators. */
export class PaymentListStore {
  constructor(private readonly database: Database) {}

  async get(id: string): Promise<PaymentRecord | undefined> {
    const [row] = await this.database.query<RecordRow>('SELECT * FROM payments.payments WHERE id = $1', [id]);
    return row && recordOf(row);
  }

  /** Newest first. */
  async list({ state, rail, wallet, limit, before }: PaymentsWanted): Promise<PaymentRecord[]> {
    const rows = await this.database.query<RecordRow>(
      `SELECT * FROM payments.payments
       WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR network = $2)
         AND ($3::text IS NULL OR wallet = $3) AND ($4::bigint IS NULL OR number < $4)
       ORDER BY number DESC LIMIT $5`,
      [state, rail && NETWORKS[rail], wallet, before, limit],
    );
    return rows.map(recordOf);
  }

  async totals(): Promise<PaymentTotals[]> {
    const rows = await this.database.query<TotalsRow>(
      `SELECT network, state, count(*) AS payments, sum(amount_units) AS units, min(created_at) AS oldest
       FROM payments.payments GROUP BY network, state ORDER BY network, state`,
    );
    return rows.map(({ network, state, payments, units, oldest }) => ({
      rail: railOf(network),
      state,
      payments: Number(payments),
      usdNano: BigInt(units) * NANO_PER_UNIT,
      oldest,
    }));
  }
}

const railOf = (network: string): PaymentRailName => (network === SOLANA_NETWORK ? 'solana' : 'base');

function recordOf(row: RecordRow): PaymentRecord {
  return {
    number: row.number,
    id: row.id,
    state: row.state,
    rail: railOf(row.network),
    wallet: row.wallet,
    accountId: row.account_id,
    payTo: row.pay_to,
    usdNano: (row.settled_units ?? row.amount_units) * NANO_PER_UNIT,
    ...(row.transaction !== null && { transaction: row.transaction }),
    attempts: row.attempts,
    reversals: row.reversals,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.last_error !== null && { lastError: row.last_error }),
    ...(row.resolution !== null && { resolution: row.resolution }),
    ...(row.resolution_reason !== null && { resolutionReason: row.resolution_reason }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
