import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  AuditQuery,
  NewPaymentDecision,
  type PaymentList,
  PaymentQuery,
  type PaymentTotalsView,
  type PaymentView,
  type PaymentsAuditView,
} from '@svc/api/operator';
import { type PaymentRecord, Payments, walletName } from '@svc/contracts/ports';
import { formatUsd } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';

/** The operator's view of wallet payments. */
@Controller()
export class PaymentsController {
  constructor(private readonly payments: Payments) {}

  @Serves(routes.listPayments)
  async list(@Query() { wallet, before, limit, ...query }: PaymentQuery): Promise<PaymentList> {
    const found = await this.payments.list({
      ...query,
      limit,
      ...(wallet !== undefined && { wallet: walletName(wallet) }),
      ...(before !== undefined && { before: BigInt(before) }),
    });
    const last = found.at(-1);
    const nextBefore = last && found.length === limit ? last.number.toString() : null;
    return { object: 'list', data: found.map(viewOf), nextBefore };
  }

  @Serves(routes.totalPayments)
  async totals(): Promise<PaymentTotalsView> {
    const totals = await this.payments.totals();
    const data = totals.map(({ rail, state, payments, usdNano, oldest }) => ({
      rail,
      state,
      payments,
      usd: formatUsd(usdNano),
      oldestSeconds: secondsSince(oldest),
    }));
    return { object: 'list', data };
  }

  @Serves(routes.auditPayments)
  async audit(@Query() { scope }: AuditQuery): Promise<PaymentsAuditView> {
    const { rails, mismatches, unclaimed, ...report } = await this.payments.audit(scope);
    return {
      ...report,
      rails: rails.map(
        ({ fromBlock, toBlock, creditedNano, onChainNano, booksNano, unclaimedNano, ...rest }) => ({
          ...rest,
          fromBlock: fromBlock.toString(),
          toBlock: toBlock.toString(),
          creditedUsd: formatUsd(creditedNano),
          onChainUsd: formatUsd(onChainNano),
          booksUsd: formatUsd(booksNano),
          unclaimedUsd: formatUsd(unclaimedNano),
        }),
      ),
      mismatches: [...mismatches],
      unclaimed: [...unclaimed],
    };
  }

  @Serves(routes.getPayment)
  async get(@Param() { id }: { id: string }): Promise<PaymentView> {
    return viewOf(await this.payments.get(id));
  }

  @Serves(routes.retryPayment)
  async retry(@Param() { id }: { id: string }): Promise<PaymentView> {
    return viewOf(await this.payments.retry(id));
  }

  @Serves(routes.resolvePayment)
  async resolve(@Param() { id }: { id: string }, @Body() decision: NewPaymentDecision): Promise<PaymentView> {
    return viewOf(await this.payments.resolve(id, decision));
  }
}

const secondsSince = (at: Date): number => Math.max(0, Math.floor((Date.now() - at.getTime()) / 1_000));

function viewOf(record: PaymentRecord): PaymentView {
  const { id, state, rail, wallet, accountId, payTo, attempts, reversals } = record;
  const { usdNano, createdAt, updatedAt, resolution, resolutionReason = '' } = record;
  return {
    id,
    state,
    rail,
    wallet,
    accountId,
    payTo,
    usd: formatUsd(usdNano),
    transaction: record.transaction ?? null,
    attempts,
    reversals,
    ageSeconds: secondsSince(createdAt),
    reason: record.reason ?? null,
    lastError: record.lastError ?? null,
    resolution: resolution ? { decision: resolution, reason: resolutionReason } : null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
