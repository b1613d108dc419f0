import type { Database } from '@svc/storage';
import { type Authorization, paymentKey } from '../src/header/payment-header.js';
import { OPEN, type Payment, PaymentStore } from '../src/records/payment.store.js';

/** Advances the time for payments, by moving recorded times into the past. */
export class PaymentTimes {
  private readonly store: PaymentStore;

  constructor(private readonly database: Database) {
    this.store = new PaymentStore(database);
  }

  /** Advances by minutes, plus enough seconds for background work. Watched payments stay watched. */
  async pass(minutes: number): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET updated_at = updated_at - interval '3 seconds',
         lease_until = lease_until - $1 * interval '61 seconds',
         watched_at = watched_at - interval '6 seconds' - $1 * interval '1 minute',
         broadcast_at = broadcast_at - $1 * interval '1 minute'
       WHERE updated_at > now() - interval '1 hour'`,
      [minutes],
    );
  }

  /** Makes ended payments too old to be watched. */
  async retire(): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET updated_at = updated_at - interval '2 hours' WHERE updated_at > now() - interval '1 hour'`,
    );
  }

  async underWay(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM payments.payments WHERE state IN ${OPEN}`,
    );
    return row?.count ?? 0;
  }

  byId(id: string): Promise<Payment | undefined> {
    return this.store.get(id);
  }

  payment(authorization: Authorization): Promise<Payment | undefined> {
    return this.store.find(paymentKey(authorization));
  }
}
