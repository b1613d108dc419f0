import { Controller, Query, UseGuards } from '@nestjs/common';
import { AuditQuery, type AuditView, Books, formatUsd, routes } from '@svc/contracts';
import { Answers, Valid } from '@svc/runtime';
import { OperatorGate } from '../auth/operator-gate.js';

/** The operator's proof that the books are right. */
@Controller()
@UseGuards(OperatorGate)
export class AuditController {
  constructor(private readonly books: Books) {}

  @Answers(routes.auditLedger)
  async audit(@Query(new Valid(AuditQuery)) { scope: asked }: AuditQuery): Promise<AuditView> {
    const { ok, scope, since, accounts, transfers, charges, mismatches, ...imbalance } =
      await this.books.audit(asked);
    return {
      ok,
      scope,
      since: since?.toISOString() ?? null,
      accounts,
      transfers,
      charges,
      imbalanceUsd: formatUsd(imbalance.imbalanceUsdNano),
      imbalanceDiem: formatUsd(imbalance.imbalanceDiemNano),
      mismatches: [...mismatches],
    };
  }
}
