import { Controller, Query } from '@nestjs/common';
import { AuditQuery, type AuditView } from '@svc/api/operator';
import { Books } from '@svc/contracts/ports';
import { formatUsd } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';

/** Audits the ledger's books. */
@Controller()
export class AuditController {
  constructor(private readonly books: Books) {}

  @Serves(routes.auditLedger)
  async audit(@Query() { scope: extent }: AuditQuery): Promise<AuditView> {
    const { ok, scope, since, accounts, transfers, charges, mismatches, ...imbalance } =
      await this.books.audit(extent);
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
