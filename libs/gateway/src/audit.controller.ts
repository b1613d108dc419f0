import { Controller, UseGuards } from '@nestjs/common';
import { type AuditView, Books, formatUsd, routes } from '@svc/contracts';
import { Answers } from '@svc/runtime';
import { OperatorGate } from './operator-gate.js';

/** The operator's proof that the books are right. */
@Controller()
@UseGuards(OperatorGate)
export class AuditController {
  constructor(private readonly books: Books) {}

  @Answers(routes.auditLedger)
  async audit(): Promise<AuditView> {
    const { ok, accounts, transfers, charges, mismatches, ...imbalance } = await this.books.audit();
    return {
      ok,
      accounts,
      transfers,
      charges,
      imbalanceUsd: formatUsd(imbalance.imbalanceUsdNano),
      imbalanceDiem: formatUsd(imbalance.imbalanceDiemNano),
      mismatches: [...mismatches],
    };
  }
}
