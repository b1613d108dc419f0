import {
  type IncomingTransfer,
  type Blocks,
  type Chain,
  ChainAway,
  type PaymentStatus,
  type Statement,
} from '../chains/chain.js';
import type { Payment } from '../records/payment.store.js';
import type { PaymentAuditStore, AuditedPayment } from './audit.store.js';
import type { AuditFindings } from './findings.js';

/** Unplaced payments located per audit. */
const PLACED_AT_ONCE = 1_000;

const EACH_AT_ONCE = 100;

/** A payment that fails this many queries, while the node responds otherwise, is reported. */
const ATTEMPTS_MOST = 2;

export interface AuditedRail {
  readonly name: string;
  readonly network: string;
  readonly payTo: string;
  readonly chain: Chain;
}

/**
 * Checks that each credited payment of these blocks arrived once, and reports incoming transfers without a
 * payment.
 */
export async function auditStatement(
  { network, payTo, chain, statement }: AuditedRail & { readonly statement: Statement },
  { store, blocks }: { readonly store: PaymentAuditStore; readonly blocks: Blocks },
  findings: AuditFindings,
): Promise<void> {
  for (const payment of await store.unplaced(network, PLACED_AT_ONCE)) {
    const status = await statusOf(payment, chain, findings);
    if (status?.kind === 'paid') await store.place(payment.id, status);
    else if (status)
      findings.wrong(`Payment ${payment.id} is credited, and the chain says that it is ${status.kind}.`);
  }
  for (let from = blocks.from; from <= blocks.to; from += statement.blocksAtOnce) {
    const last = from + statement.blocksAtOnce - 1n;
    const part = { from, to: last < blocks.to ? last : blocks.to };
    const incomingTransfers = await statement.incomingTransfers(payTo, part);
    const credited = await store.creditedIn(network, part);
    const named = await store.byTransactions(network, [
      ...new Set(incomingTransfers.map(({ transaction }) => transaction)),
    ]);
    const left = claim(incomingTransfers, { credited, named, findings });
    for (const transfer of left) {
      if (await store.isUnderWay(network, transfer.payer, transfer.units)) continue;
      const { units, payer, transaction, block } = transfer;
      findings.unclaimedTransfer(
        units,
        `${units} millionths of a USDC from ${payer} in block ${block} by ${transaction} belong to no payment.`,
      );
    }
  }
}

/**
 * Reports each payment whose outcome the chain does not show: its authorization was spent without a credit.
 */
export async function auditUndecided(
  { network }: AuditedRail,
  store: PaymentAuditStore,
  findings: AuditFindings,
): Promise<void> {
  for (const { id, wallet, units } of await store.undecided(network))
    findings.wrong(
      `Payment ${id} of ${units} millionths of a USDC by ${wallet} is UNKNOWN: it was spent, and is not credited.`,
    );
}

/**
 * For a chain without a statement: checks that each credited payment arrived, and that no arrived one lacks
 * its credit.
 */
export async function auditEach(
  { network, chain }: AuditedRail,
  { store, since }: { readonly store: PaymentAuditStore; readonly since: Date | undefined },
  findings: AuditFindings,
): Promise<void> {
  let after = 0n;
  for (;;) {
    const page = await store.dueSince(network, { after, limit: EACH_AT_ONCE, ...(since && { since }) });
    for (const payment of page) {
      const status = await statusOf(payment, chain, findings);
      const { id, state, settledUnits = 0n } = payment;
      after = payment.number;
      if (state !== 'CREDITED') {
        if (status?.kind === 'paid') findings.wrong(uncredited({ ...payment, ...status }));
        continue;
      }
      findings.payments += 1;
      findings.creditedUnits += settledUnits;
      if (status?.kind === 'paid' && status.units === settledUnits) findings.onChainUnits += settledUnits;
      else if (status)
        findings.wrong(`Payment ${id} is credited, and the chain says that it is ${status.kind}.`);
    }
    if (page.length < EACH_AT_ONCE) return;
  }
}

/**
 * The status of a payment on its chain. If the node fails only for this payment, that is a finding; if it is
 * down, the audit ends.
 */
async function statusOf(
  payment: Payment,
  chain: Chain,
  findings: AuditFindings,
): Promise<PaymentStatus | undefined> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await chain.statusOf(payment);
    } catch (error) {
      if (!(error instanceof ChainAway)) throw error;
      await chain.head();
      if (attempt < ATTEMPTS_MOST) continue;
      findings.wrong(
        `Payment ${payment.id} is ${payment.state}, and the chain cannot be queried: ${error.message}.`,
      );
      return undefined;
    }
}

/** Matches each payment with its own incoming transfer, at most once. Returns the unmatched transfers. */
function claim(
  incomingTransfers: readonly IncomingTransfer[],
  {
    credited,
    named,
    findings,
  }: { credited: readonly AuditedPayment[]; named: readonly AuditedPayment[]; findings: AuditFindings },
): IncomingTransfer[] {
  const left = new Map<string, IncomingTransfer[]>();
  for (const transfer of incomingTransfers) {
    const key = keyOf(transfer.transaction, transfer.payer, transfer.units);
    left.set(key, [...(left.get(key) ?? []), transfer]);
  }
  const take = ({ transaction, wallet, units }: AuditedPayment): boolean =>
    left.get(keyOf(transaction, wallet, units))?.pop() !== undefined;
  for (const payment of credited) {
    findings.payments += 1;
    findings.creditedUnits += payment.units;
    if (take(payment)) findings.onChainUnits += payment.units;
    else
      findings.wrong(
        `Payment ${payment.id} is credited with ${payment.units} millionths of a USDC by ${payment.transaction}, and the chain has no such transfer.`,
      );
  }
  const seen = new Set(credited.map(({ id }) => id));
  for (const payment of named)
    if (!seen.has(payment.id) && take(payment) && !isAccountedFor(payment))
      findings.wrong(uncredited(payment));
  return [...left.values()].flat();
}

/** Credited, recent and in progress, or reported by `auditUndecided`. */
function isAccountedFor({ state, isRecent }: AuditedPayment): boolean {
  switch (state) {
    case 'CREDITED':
    case 'UNKNOWN':
      return true;
    case 'FAILED':
      return false;
    case 'RECEIVED':
    case 'SETTLING':
    case 'BROADCAST':
    case 'CONFIRMED':
    case 'REVERSING':
    case 'REVERSED':
      return isRecent;
  }
}

const uncredited = ({
  id,
  state,
  units,
  transaction,
}: Pick<AuditedPayment, 'id' | 'state' | 'units' | 'transaction'>): string =>
  `Payment ${id} is ${state} and not credited, and ${units} millionths of a USDC have arrived for it by ${transaction}.`;

const keyOf = (transaction: string, payer: string, units: bigint): string =>
  `${transaction} ${payer} ${units}`;
