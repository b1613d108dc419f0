import { Controller, Param, Query, Res } from '@nestjs/common';
import {
  Accounting,
  type LedgerMonth,
  type SpenderList,
  SpenderQuery,
  type AccountStatement,
  routes,
} from '@svc/contracts';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { AccountStore } from '@svc/paid/accounts';
import { isCsvFile } from '@svc/paid/http';
import { entryView, monthCsv, statementCsv } from './statement-view.js';
import { amounts } from './transfer-view.js';

/** Sums of the books, for operators and their accountants. */
@Controller()
export class StatementsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly accounting: Accounting,
  ) {}

  @Serves(routes.listSpenders)
  async spenders(@Query() query: SpenderQuery): Promise<SpenderList> {
    const spenders = await this.accounting.spenders(query);
    const names = await this.accounts.names(spenders.map(({ accountId }) => accountId));
    const data = spenders.map(({ accountId, tokens, charged, refunded }) => ({
      accountId,
      name: names.get(accountId) ?? null,
      tokens: Number(tokens),
      charged: amounts(charged),
      refunded: amounts(refunded),
    }));
    return { object: 'list', data };
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
