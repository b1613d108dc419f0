import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type PaymentState, walletAccountId, walletName } from '@svc/contracts/ports';
import { Database } from '@svc/storage';
import { type SignedPayment, paymentKey } from '../header/payment-header.js';
import { KeyedQueue } from './keyed-queue.js';

export interface Payment<Signed extends SignedPayment = SignedPayment> {
  readonly id: string;
  readonly state: PaymentState;
  readonly wallet: string;
  readonly accountId: string;
  readonly authorization: Signed;
  /** The block (on Solana, the slot) before which the payment can't have been settled, except by others. */
  readonly seenBlock: bigint;
  readonly transaction: string | undefined;
  /** The signed transaction, for sending it again. */
  readonly rawTransaction: string | undefined;
  /** The amount that arrived, in millionths of a dollar. */
  readonly settledUnits: bigint | undefined;
  /** The block that the chain had it in when it was credited. */
  readonly settledBlock: bigint | undefined;
  readonly settledBlockHash: string | undefined;
  /** When its transaction was last recorded for sending. */
  readonly broadcastAt: Date | undefined;
  /** How often its credit was reversed. */
  readonly reversals: number;
  readonly reason: string | undefined;
}

/** A payment as stored. */
export interface PaymentRow {
  readonly id: string;
  readonly state: PaymentState;
  readonly network: string;
  readonly asset: string;
  readonly wallet: string;
  readonly account_id: string;
  readonly payer: string;
  readonly pay_to: string;
  readonly amount_units: bigint;
  readonly valid_after: string;
  readonly valid_before: string;
  readonly nonce: string;
  readonly signature: string;
  readonly seen_block: bigint;
  readonly transaction: string | null;
  readonly raw_transaction: string | null;
  readonly settled_units: bigint | null;
  readonly settled_block: bigint | null;
  readonly settled_block_hash: string | null;
  readonly broadcast_at: Date | null;
  readonly reversals: number;
  readonly reason: string | null;
}

/** The number of payments in a state, and the age of the oldest. */
export interface OpenPayments {
  readonly network: string;
  readonly state: PaymentState;
  readonly count: number;
  readonly ageSeconds: number;
}

/** The states of unfinished payments. */
const NOT_ENDED: readonly PaymentState[] = [
  'RECEIVED',
  'SETTLING',
  'BROADCAST',
  'CONFIRMED',
  'REVERSING',
  'REVERSED',
  'UNKNOWN',
];

/** The same in SQL. */
export const OPEN = `(${NOT_ENDED.map((state) => `'${state}'`).join(', ')})`;

/** An UNKNOWN payment is retried after 5 s, then less often with its age, but at least once an hour. */
const DUE = `(state <> 'UNKNOWN'
  OR updated_at < now() - least(greatest((now() - created_at) / 10, interval '5 seconds'), interval '1 hour'))`;

/**
 * A payment may disappear from its chain this long after its credit. Source: a Base block is final after
 * about 20 minutes.
 */
const WATCHED = `interval '1 hour'`;
const LOOK = `interval '5 seconds'`;

/** Where a payment was paid on its chain. */
export interface SettledTransfer {
  readonly transaction: string;
  readonly units: bigint;
  readonly block?: bigint;
  readonly blockHash?: string;
}

/**
 * The reference of a payment's credit in the books. A payment that was reversed and came again gets another
 * one.
 */
export const creditReference = ({ id, reversals }: Pick<Payment, 'id' | 'reversals'>): string =>
  reversals === 0 ? id : `${id}.${reversals + 1}`;

/** Payments, each with a row that outlives every process. */
@Injectable()
export class PaymentStore {
  private readonly queue = new KeyedQueue();

  constructor(private readonly database: Database) {}

  async find(key: string): Promise<Payment | undefined> {
    const [row] = await this.database.query<PaymentRow>('SELECT * FROM payments.payments WHERE key = $1', [
      key,
    ]);
    return row && paymentOf(row);
  }

  async get(id: string): Promise<Payment | undefined> {
    const [row] = await this.database.query<PaymentRow>('SELECT * FROM payments.payments WHERE id = $1', [
      id,
    ]);
    return row && paymentOf(row);
  }

  /** Stores a payment for an account, by default that of the payer, or returns the stored one. */
  async receive(authorization: SignedPayment, seenBlock: bigint, accountId?: string): Promise<Payment> {
    const { network, asset, from, to, value, validAfter, validBefore, nonce, signature, wire } =
      authorization;
    const wallet = walletName(from);
    const key = paymentKey(authorization);
    const [row] = await this.database.query<PaymentRow>(
      `INSERT INTO payments.payments (id, key, state, network, asset, wallet, account_id, payer, pay_to, amount_units,
         valid_after, valid_before, nonce, signature, seen_block, raw_transaction)
       VALUES ($1, $2, 'RECEIVED', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
       ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING *`,
      [
        `payment_${randomUUID().replaceAll('-', '')}`,
        key,
        network,
        asset,
        wallet,
        accountId ?? walletAccountId(wallet),
        from,
        to,
        value,
        validAfter,
        validBefore,
        nonce,
        signature,
        seenBlock,
        wire ?? null,
      ],
    );
    if (!row) throw new Error('a payment was not kept');
    return paymentOf(row);
  }

  /**
   * Gives one process the right to advance a payment for `leaseMs`. Undefined if another process has it, or
   * if the payment has ended or is not due.
   */
  async lease(id: string, leaseMs: number): Promise<Payment | undefined> {
    const [row] = await this.database.query<PaymentRow>(
      `UPDATE payments.payments SET lease_until = now() + $2 * interval '1 millisecond', attempts = attempts + 1,
         state = CASE state WHEN 'RECEIVED' THEN 'SETTLING' ELSE state END, updated_at = now()
       WHERE id = $1 AND state IN ${OPEN} AND ${DUE} AND (lease_until IS NULL OR lease_until < now()) RETURNING *`,
      [id, leaseMs],
    );
    return row && paymentOf(row);
  }

  async release(id: string): Promise<void> {
    await this.database.query('UPDATE payments.payments SET lease_until = NULL WHERE id = $1', [id]);
  }

  /** Records a transaction before it is sent, so that it can't be lost. */
  async broadcast(id: string, transaction: string, rawTransaction?: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = CASE state WHEN 'REVERSED' THEN state ELSE 'BROADCAST' END,
         transaction = $2, raw_transaction = $3, broadcast_at = now(), updated_at = now()
       WHERE id = $1 AND state IN ('SETTLING', 'BROADCAST', 'REVERSED')`,
      [id, transaction, rawTransaction ?? null],
    );
  }

  /** Records the outcome of the transaction of an unfinished payment. */
  async noted(id: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET reason = $2, updated_at = now()
       WHERE id = $1 AND state IN ('SETTLING', 'BROADCAST', 'REVERSED')`,
      [id, reason],
    );
  }

  async confirm(id: string, { transaction, units, block, blockHash }: SettledTransfer): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = 'CONFIRMED', transaction = $2, settled_units = $3, settled_block = $4,
         settled_block_hash = $5, watched_at = now(), reason = NULL, updated_at = now()
       WHERE id = $1 AND state IN ${OPEN} AND state <> 'REVERSING'`,
      [id, transaction, units, block, blockHash],
    );
  }

  async end(id: string, state: 'CREDITED' | 'FAILED', reason?: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = $2, reason = $3, last_error = NULL, lease_until = NULL, updated_at = now()
       WHERE id = $1 AND state IN ${OPEN}`,
      [id, state, reason ?? null],
    );
  }

  /** Records that the chain does not show a payment's outcome. */
  async undecided(id: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = 'UNKNOWN', reason = $2, updated_at = now()
       WHERE id = $1 AND state IN ${OPEN}`,
      [id, reason],
    );
  }

  /** Records why a step failed. */
  async failedStep(id: string, error: string): Promise<void> {
    await this.database.query('UPDATE payments.payments SET last_error = $2 WHERE id = $1', [
      id,
      error.slice(0, 500),
    ]);
  }

  /** Credited payments that the chain may still lose, those checked longest ago first. */
  async toWatch(network: string, limit: number): Promise<Payment[]> {
    const rows = await this.database.query<PaymentRow>(
      `SELECT * FROM payments.payments WHERE network = $1 AND state = 'CREDITED' AND updated_at > now() - ${WATCHED}
         AND (watched_at IS NULL OR watched_at < now() - ${LOOK}) ORDER BY watched_at NULLS FIRST LIMIT $2`,
      [network, limit],
    );
    return rows.map(paymentOf);
  }

  /** Records that the chain still has a payment, and its new position if it has moved. */
  async watched(id: string, to?: SettledTransfer): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET watched_at = now(), transaction = coalesce($2, transaction),
         settled_block = coalesce($3, settled_block), settled_block_hash = coalesce($4, settled_block_hash)
       WHERE id = $1 AND state = 'CREDITED'`,
      [id, to?.transaction, to?.block, to?.blockHash],
    );
  }

  /** Records that a credit must be reversed, for the process that advances it. */
  async vanished(id: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = 'REVERSING', reason = 'the chain no longer has it', updated_at = now()
       WHERE id = $1 AND state = 'CREDITED'`,
      [id],
    );
  }

  async reversed(id: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = 'REVERSED', reversals = reversals + 1, settled_block = NULL,
         settled_block_hash = NULL, updated_at = now() WHERE id = $1 AND state = 'REVERSING'`,
      [id],
    );
  }

  /** Reopens a failed or undecided payment, so that the chain is checked again at once. */
  async reopen(id: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = CASE WHEN reversals > 0 THEN 'REVERSED' ELSE 'SETTLING' END,
         updated_at = now() WHERE id = $1 AND state IN ('FAILED', 'UNKNOWN')`,
      [id],
    );
  }

  /** Records the operator's decision and its reason. */
  async decided(id: string, decision: 'credit' | 'fail', reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET resolution = $2, resolution_reason = $3, resolved_at = now() WHERE id = $1`,
      [id, decision, reason],
    );
  }

  /** Payments of a network that are due and not leased, oldest first, UNKNOWN ones last. */
  async left(network: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM payments.payments WHERE network = $1 AND state IN ${OPEN} AND ${DUE}
         AND (lease_until IS NULL OR lease_until < now())
         AND updated_at < now() - interval '2 seconds' ORDER BY state = 'UNKNOWN', updated_at LIMIT $2`,
      [network, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** The unfinished payments of these networks by state, including states without any. */
  async open(networks: readonly string[]): Promise<OpenPayments[]> {
    return this.database.query<OpenPayments>(
      `SELECT network, state, count(id)::int AS count,
         coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS "ageSeconds"
       FROM unnest($1::text[]) AS state CROSS JOIN unnest($2::text[]) AS network
         LEFT JOIN payments.payments USING (state, network) GROUP BY network, state`,
      [NOT_ENDED, networks],
    );
  }

  /**
   * Runs `work` alone under a name, across all processes. At most one connection per process waits for the
   * lock; `work` needs another connection.
   */
  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return this.queue.run(name, () =>
      this.database.transaction(async (client) => {
        await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 402))', [name]);
        return work();
      }),
    );
  }
}

export function paymentOf(row: PaymentRow): Payment {
  return {
    id: row.id,
    state: row.state,
    wallet: row.wallet,
    accountId: row.account_id,
    authorization: signedOf(row),
    seenBlock: row.seen_block,
    transaction: row.transaction ?? undefined,
    rawTransaction: row.raw_transaction ?? undefined,
    settledUnits: row.settled_units ?? undefined,
    settledBlock: row.settled_block ?? undefined,
    settledBlockHash: row.settled_block_hash ?? undefined,
    broadcastAt: row.broadcast_at ?? undefined,
    reversals: row.reversals,
    reason: row.reason ?? undefined,
  };
}

function signedOf(row: PaymentRow): SignedPayment {
  return {
    network: row.network,
    asset: row.asset,
    from: row.payer,
    to: row.pay_to,
    value: row.amount_units,
    validAfter: BigInt(row.valid_after),
    validBefore: BigInt(row.valid_before),
    nonce: row.nonce,
    signature: row.signature,
    ...(row.raw_transaction !== null && { wire: row.raw_transaction }),
  };
}
