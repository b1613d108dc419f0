import type { Database } from '@svc/storage';
import { type Authorization, paymentKey } from '../src/header/payment-header.js';
import { OPEN, type Payment, PaymentStore } from '../src/records/payment.store.js';

/** Lets time go on for payments, by moving what is noted of it into the past. */
export class PaymentTimes {
  private readonly store: PaymentStore;

  constructor(private readonly database: Database) {
    this.store = new PaymentStore(database);
  }

  /** Minutes, and seconds enough for who goes on by itself. A payment stays of those that are watched. */
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

  /** No process looks after ended payments any more. */
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
