import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditScope, Books, PaymentsAuditReport, RailAudit } from '@svc/contracts/ports';
import type { Logger } from '@svc/runtime';
import { payments } from '@svc/telemetry';
import type { Blocks, Statement } from '../chains/chain.js';
import { type AuditedRail, auditEach, auditStatement, auditUndecided } from './chain-audit.js';
import type { PaymentAuditStore } from './audit.store.js';
import { auditPayments, auditTransfers } from './books-audit.js';
import { AuditFindings } from './findings.js';

const NANO_PER_UNIT = 1_000n;

/** Payments continue during an audit, so a mismatch counts only if it persists. */
const TRIES = 3;
const MOMENT_MS = 1_500;

interface AuditParts {
  readonly rails: readonly AuditedRail[];
  readonly store: PaymentAuditStore;
  readonly books: Books;
  readonly log: Logger;
}

/** Proves that credits, chains and books agree, payment by payment. */
export class PaymentsAudit {
  private readonly running = new Map<AuditScope, Promise<PaymentsAuditReport>>();

  constructor(private readonly parts: AuditParts) {}

  /**
   * Callers during a running audit of the same scope share its report. Rejects: ChainAway, and errors of
   * database and books.
   */
  run(scope: AuditScope): Promise<PaymentsAuditReport> {
    const running = this.running.get(scope) ?? this.audit(scope).finally(() => this.running.delete(scope));
    this.running.set(scope, running);
    return running;
  }

  private async audit(scope: AuditScope): Promise<PaymentsAuditReport> {
    try {
      const report = await this.tried(scope);
      this.log(report);
      return report;
    } catch (error) {
      payments.audits.add(1, scope, 'failed');
      throw error;
    }
  }

  private async tried(scope: AuditScope): Promise<PaymentsAuditReport> {
    for (let attempt = 1; ; attempt += 1) {
      const report = await this.once(scope);
      if (report.ok || attempt === TRIES) return report;
      await sleep(MOMENT_MS);
    }
  }

  /** The only place that reports the result of an audit. */
  private log(report: PaymentsAuditReport): void {
    const { ok, scope, mismatches, unclaimed } = report;
    payments.audits.add(1, scope, ok ? 'proved' : 'wrong');
    (ok ? payments.proved : payments.wrong).set(Date.now() / 1_000, scope);
    if (!ok) this.parts.log.error({ scope, mismatches }, 'the audit of the payments found mismatches');
    else
      this.parts.log.info(
        { scope, unclaimed: unclaimed.length },
        'the audit of the payments found no mismatches',
      );
  }

  private async once(scope: AuditScope): Promise<PaymentsAuditReport> {
    const rails: RailAudit[] = [];
    const mismatches: string[] = [];
    const unclaimed: string[] = [];
    for (const rail of this.parts.rails) {
      const { audit, findings } = await this.rail(rail, scope);
      rails.push(audit);
      mismatches.push(...findings.mismatches);
      unclaimed.push(...findings.unclaimed);
    }
    return { ok: mismatches.length === 0, scope, rails, mismatches, unclaimed };
  }

  private async rail(
    rail: AuditedRail,
    scope: AuditScope,
  ): Promise<{ audit: RailAudit; findings: AuditFindings }> {
    const { store, books } = this.parts;
    const { network, chain } = rail;
    const findings = new AuditFindings();
    const provedAt = await store.now();
    const mark = await store.mark(network);
    const since = scope === 'new' ? mark : undefined;
    const blocks = chain.statement
      ? await this.statement({ ...rail, statement: chain.statement }, since?.block, findings)
      : { from: 0n, to: 0n };
    if (!chain.statement) await auditEach(rail, { store, since: since?.provedAt }, findings);
    await auditUndecided(rail, store, findings);
    const parts = { rail: rail.name, network, store, books };
    const transferId = await auditTransfers(parts, since?.transferId ?? 0n, findings);
    await auditPayments(parts, since?.provedAt, findings);
    if (findings.mismatches.length === 0)
      await store.keepMark(network, scope, { block: blocks.to, transferId, provedAt });
    return { audit: totalsOf(rail.name, blocks, findings), findings };
  }

  /** Starts at the last proved block, or at the first block with a payment. */
  private async statement(
    rail: AuditedRail & { readonly statement: Statement },
    proved: bigint | undefined,
    findings: AuditFindings,
  ): Promise<Blocks> {
    const { store } = this.parts;
    const { blocksAtOnce } = rail.statement;
    const to = await rail.statement.lastSure();
    const first = (await store.firstBlock(rail.network)) ?? to;
    // Part of what was proved is checked again, since the last blocks of a chain may be replaced.
    const wanted = proved === undefined ? first - blocksAtOnce : proved - blocksAtOnce / 9n;
    const blocks = { from: wanted > 0n ? wanted : 0n, to };
    await auditStatement(rail, { store, blocks }, findings);
    return blocks;
  }
}

function totalsOf(
  rail: string,
  { from, to }: { from: bigint; to: bigint },
  findings: AuditFindings,
): RailAudit {
  return {
    rail,
    fromBlock: from,
    toBlock: to,
    payments: findings.payments,
    transfers: findings.transfers,
    creditedNano: findings.creditedUnits * NANO_PER_UNIT,
    onChainNano: findings.onChainUnits * NANO_PER_UNIT,
    booksNano: findings.booksNano > 0n ? findings.booksNano : 0n,
    unclaimed: findings.unclaimedCount,
    unclaimedNano: findings.unclaimedUnits * NANO_PER_UNIT,
  };
}
