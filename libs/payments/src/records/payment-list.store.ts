import type {
  PaymentRail,
  PaymentRecord,
  PaymentState,
  PaymentTotals,
  PaymentsWanted,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { Database } from '@svc/storage';
import type { PaymentRow } from './payment.store.js';

const NANO_PER_UNIT = 1_000n;

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
  /** `rails` are all that this version knows, whether or not they are configured. */
  constructor(
    private readonly database: Database,
    private readonly rails: readonly Pick<PaymentRail, 'name' | 'network'>[],
  ) {}

  async get(id: string): Promise<PaymentRecord | undefined> {
    const [row] = await this.database.query<RecordRow>('SELECT * FROM payments.payments WHERE id = $1', [id]);
    return row && this.recordOf(row);
  }

  /** Newest first. Rejects: INVALID_REQUEST, for a rail that does not exist. */
  async list({ state, rail, wallet, limit, before }: PaymentsWanted): Promise<PaymentRecord[]> {
    const rows = await this.database.query<RecordRow>(
      `SELECT * FROM payments.payments
       WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR network = $2)
         AND ($3::text IS NULL OR wallet = $3) AND ($4::bigint IS NULL OR number < $4)
       ORDER BY number DESC LIMIT $5`,
      [state, rail && this.networkOf(rail), wallet, before, limit],
    );
    return rows.map((row) => this.recordOf(row));
  }

  async totals(): Promise<PaymentTotals[]> {
    const rows = await this.database.query<TotalsRow>(
      `SELECT network, state, count(*) AS payments, sum(amount_units) AS units, min(created_at) AS oldest
       FROM payments.payments GROUP BY network, state ORDER BY network, state`,
    );
    return rows.map(({ network, state, payments, units, oldest }) => ({
      rail: this.railOf(network),
      state,
      payments: Number(payments),
      usdNano: BigInt(units) * NANO_PER_UNIT,
      oldest,
    }));
  }

  private networkOf(rail: string): string {
    const found = this.rails.find(({ name }) => name === rail);
    if (found) return found.network;
    const names = this.rails.map(({ name }) => `\`${name}\``).join(' or ');
    throw new Problem('INVALID_REQUEST', { param: 'rail', message: `\`rail\` must be ${names}.` });
  }

  /** A payment on a rail that this version lacks is shown by its network. */
  private railOf(network: string): string {
    return this.rails.find((rail) => rail.network === network)?.name ?? network;
  }

  private recordOf(row: RecordRow): PaymentRecord {
    return {
      number: row.number,
      id: row.id,
      state: row.state,
      rail: this.railOf(row.network),
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
}
