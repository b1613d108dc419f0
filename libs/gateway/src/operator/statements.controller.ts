import { Controller, Param, Query, Res } from '@nestjs/common';
import { Accounting } from '@svc/contracts/accounting';
import { type LedgerMonth, type SpenderList, SpenderQuery, type AccountStatement } from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { AccountStore } from '@svc/identity/accounts';
import { FailedRequestStore } from '@svc/identity/failures';
import { isCsvFile } from '@svc/paid/http';
import { entryView, monthCsv, statementCsv } from './statement-view.js';
import { amounts } from './transfer-view.js';

/** Sums of the books, for operators and their accountants. */
@Controller()
export class StatementsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly accounting: Accounting,
    private readonly failed: FailedRequestStore,
  ) {}

  @Serves(routes.listSpenders)
  async spenders(@Query() { by, ...period }: SpenderQuery): Promise<SpenderList> {
    const most = by === 'refusals' ? await this.mostRefused(period) : undefined;
    const spenders = await this.accounting.spenders(
      by === 'refusals' ? { ...period, accountIds: [...(most?.keys() ?? [])] } : { ...period, by },
    );
    const ids = spenders.map(({ accountId }) => accountId);
    const [names, refusals] = await Promise.all([
      this.accounts.names(ids),
      most ?? this.failed.refusals(period, ids),
    ]);
    const data = spenders.map(({ accountId, requests, tokens, charged, refunded }) => ({
      accountId,
      name: names.get(accountId) ?? null,
      requests: requests === undefined ? null : Number(requests),
      refusals: refusals ? (refusals.get(accountId) ?? 0) : null,
      tokens: Number(tokens),
      charged: amounts(charged),
      refunded: amounts(refunded),
    }));
    return { object: 'list', data };
  }

  private async mostRefused(period: Omit<SpenderQuery, 'by'>): Promise<ReadonlyMap<string, number>> {
    const most = await this.failed.refusals(period);
    if (!most) throw new Problem('REQUEST_TIMEOUT');
    return most;
  }

  @Serves(routes.getLedgerMonth)
  async month(
    @Param() { month }: { month: string },
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LedgerMonth | string> {
    const entries = (await this.accounting.month(month)).map(entryView);
    const sums = { object: 'ledger_month', month, isComplete: hasEnded(month), entries } as const;
    return isCsvFile(reply, `ledger-${month}.csv`) ? monthCsv(sums) : sums;
  }

  @Serves(routes.getStatement)
  async statement(
    @Param() { id, month }: { id: string; month: string },
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountStatement | string> {
    const { id: accountId } = await this.accounts.get(id);
    const entries = (await this.accounting.statement(accountId, month)).map((each) => ({
      ...entryView(each),
      at: each.at.toISOString(),
      reference: each.reference,
    }));
    const found = { object: 'statement', accountId, month, isComplete: hasEnded(month), entries } as const;
    return isCsvFile(reply, `statement-${accountId}-${month}.csv`) ? statementCsv(found) : found;
  }
}

/** In UTC. */
const hasEnded = (month: string): boolean => new Date().toISOString().slice(0, 7) > month;
