import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  BASE_NETWORK,
  BASE_USDC,
  type PaymentState,
  SOLANA_NETWORK,
  SOLANA_USDC,
  walletAccountId,
  walletName,
} from '@svc/contracts';
import { Database } from '@svc/storage';
import {
  type Authorization,
  type SignedPayment,
  type SolanaTransfer,
  paymentKey,
} from '../header/payment-header.js';
import { Turns } from './turns.js';

export interface Payment<Signed extends SignedPayment = SignedPayment> {
  readonly id: string;
  readonly state: PaymentState;
  readonly wallet: string;
  readonly accountId: string;
  readonly authorization: Signed;
  /** The block, on Solana the slot, in which it can not have been settled yet, but for what somebody else did before. */
  readonly seenBlock: bigint;
  readonly transaction: string | undefined;
  /** The transaction, signed, to be sent again. */
  readonly rawTransaction: string | undefined;
  /** What has arrived, in millionths of a dollar. */
  readonly settledUnits: bigint | undefined;
  /** Where the chain had it when it was credited. */
  readonly settledBlock: bigint | undefined;
  readonly settledBlockHash: string | undefined;
  /** When its transaction was last noted, to be sent. */
  readonly broadcastAt: Date | undefined;
  /** How often its credit was taken back. */
  readonly reversals: number;
  readonly reason: string | undefined;
}

type Hex = `0x${string}`;

/** A payment as it is stored. */
export interface PaymentRow {
  readonly id: string;
  readonly state: PaymentState;
  readonly network: string;
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

/** How many payments stand so, and since when the oldest is there. */
export interface OpenPayments {
  readonly network: string;
  readonly state: PaymentState;
  readonly count: number;
  readonly ageSeconds: number;
}

/** The states of payments that have not ended. */
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

/** An UNKNOWN payment is tried again after 5 s, then less and less often with its age, at least once an hour. */
const DUE = `(state <> 'UNKNOWN'
  OR updated_at < now() - least(greatest((now() - created_at) / 10, interval '5 seconds'), interval '1 hour'))`;

/** A payment may vanish from its chain this long after its credit. Source: a block of Base is final in some 20 minutes. */
const WATCHED = `interval '1 hour'`;
const LOOK = `interval '5 seconds'`;

/** Where a payment was paid on its chain. */
export interface Settled {
  readonly transaction: string;
  readonly units: bigint;
  readonly block?: bigint;
  readonly blockHash?: string;
}

/** What the books know a payment's credit by. One that was taken back and came again is credited under another name. */
export const creditReference = ({ id, reversals }: Pick<Payment, 'id' | 'reversals'>): string =>
  reversals === 0 ? id : `${id}.${reversals + 1}`;

/** Payments, each with a row that outlives every process. */
@Injectable()
export class PaymentStore {
  private readonly turns = new Turns();

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

  /** Keeps a payment, or gives the one that is kept already. */
  async receive(authorization: SignedPayment, seenBlock: bigint): Promise<Payment> {
    const { network, asset, from, to, value, nonce, signature } = authorization;
    const { validAfter, validBefore, rawTransaction } = particularsOf(authorization);
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
        walletAccountId(wallet),
        from,
        to,
        value,
        validAfter,
        validBefore,
        nonce,
        signature,
        seenBlock,
        rawTransaction,
      ],
    );
    if (!row) throw new Error('a payment was not kept');
    return paymentOf(row);
  }

  /** Lets one process alone go on with a payment, for so long. Nothing if another has it, or it has ended or is not due. */
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

  /** Notes a transaction before it is sent, so that nobody forgets it. */
  async broadcast(id: string, transaction: string, rawTransaction?: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = CASE state WHEN 'REVERSED' THEN state ELSE 'BROADCAST' END,
         transaction = $2, raw_transaction = $3, broadcast_at = now(), updated_at = now()
       WHERE id = $1 AND state IN ('SETTLING', 'BROADCAST', 'REVERSED')`,
      [id, transaction, rawTransaction ?? null],
    );
  }

  /** Notes what has become of the transaction of a payment that goes on. */
  async noted(id: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET reason = $2, updated_at = now()
       WHERE id = $1 AND state IN ('SETTLING', 'BROADCAST', 'REVERSED')`,
      [id, reason],
    );
  }

  async confirm(id: string, { transaction, units, block, blockHash }: Settled): Promise<void> {
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

  /** Notes that the chain does not show what became of a payment. */
  async undecided(id: string, reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = 'UNKNOWN', reason = $2, updated_at = now()
       WHERE id = $1 AND state IN ${OPEN}`,
      [id, reason],
    );
  }

  /** Notes why a step could not be taken. */
  async failedStep(id: string, error: string): Promise<void> {
    await this.database.query('UPDATE payments.payments SET last_error = $2 WHERE id = $1', [
      id,
      error.slice(0, 500),
    ]);
  }

  /** Credited payments that the chain may still lose, those first that were looked at longest ago. */
  async toWatch(network: string, limit: number): Promise<Payment[]> {
    const rows = await this.database.query<PaymentRow>(
      `SELECT * FROM payments.payments WHERE network = $1 AND state = 'CREDITED' AND updated_at > now() - ${WATCHED}
         AND (watched_at IS NULL OR watched_at < now() - ${LOOK}) ORDER BY watched_at NULLS FIRST LIMIT $2`,
      [network, limit],
    );
    return rows.map(paymentOf);
  }

  /** Notes that the chain still has a payment, and where, if it has moved. */
  async watched(id: string, to?: Settled): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET watched_at = now(), transaction = coalesce($2, transaction),
         settled_block = coalesce($3, settled_block), settled_block_hash = coalesce($4, settled_block_hash)
       WHERE id = $1 AND state = 'CREDITED'`,
      [id, to?.transaction, to?.block, to?.blockHash],
    );
  }

  /** Decides that a credit is taken back, for whoever goes on with it. */
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

  /** Lets a payment that has failed or is undecided go on, so that the chain is asked again at once. */
  async reopen(id: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET state = CASE WHEN reversals > 0 THEN 'REVERSED' ELSE 'SETTLING' END,
         updated_at = now() WHERE id = $1 AND state IN ('FAILED', 'UNKNOWN')`,
      [id],
    );
  }

  /** Keeps what the operator decided, and why. */
  async decided(id: string, decision: 'credit' | 'fail', reason: string): Promise<void> {
    await this.database.query(
      `UPDATE payments.payments SET resolution = $2, resolution_reason = $3, resolved_at = now() WHERE id = $1`,
      [id, decision, reason],
    );
  }

  /** Payments of a network that are due and that nobody goes on with, the oldest first, and UNKNOWN ones last. */
  async left(network: string, limit: number): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM payments.payments WHERE network = $1 AND state IN ${OPEN} AND ${DUE}
         AND (lease_until IS NULL OR lease_until < now())
         AND updated_at < now() - interval '2 seconds' ORDER BY state = 'UNKNOWN', updated_at LIMIT $2`,
      [network, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** How payments of these networks stand that are neither credited nor failed: each state, be it that there are none. */
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
   * Runs `work` while nobody else does anything under the same name, in this process or another. One connection of a process
   * waits for that and no more: `work` needs another one.
   */
  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return this.turns.take(name, () =>
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
    authorization: row.network === SOLANA_NETWORK ? transferOf(row) : authorizationOf(row),
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

function authorizationOf(row: PaymentRow): Authorization {
  return {
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from: row.payer as Hex,
    to: row.pay_to as Hex,
    value: row.amount_units,
    validAfter: BigInt(row.valid_after),
    validBefore: BigInt(row.valid_before),
    nonce: row.nonce as Hex,
    signature: row.signature as Hex,
  };
}

function transferOf(row: PaymentRow): SolanaTransfer {
  return {
    network: SOLANA_NETWORK,
    asset: SOLANA_USDC,
    from: row.payer,
    to: row.pay_to,
    value: row.amount_units,
    nonce: row.nonce,
    signature: row.signature,
    wire: row.raw_transaction ?? '',
  };
}

/** What is kept of a payment on one chain and not on the other. */
function particularsOf(authorization: SignedPayment): {
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly rawTransaction: string | null;
} {
  switch (authorization.network) {
    case BASE_NETWORK:
      return { ...authorization, rawTransaction: null };
    case SOLANA_NETWORK:
      return { validAfter: 0n, validBefore: 0n, rawTransaction: authorization.wire };
  }
}
