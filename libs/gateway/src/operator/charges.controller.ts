import { Controller, Param } from '@nestjs/common';
import { Books, type PostedCharge } from '@svc/contracts/ports';
import type { ChargeView, HoldList, RequestView } from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { formatUsd, totalNano } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { FailedRequestStore } from '@svc/identity/failures';
import { amounts } from './transfer-view.js';

/** Shows what a request holds, what it cost, and why, or why it failed. */
@Controller()
export class ChargesController {
  constructor(
    private readonly books: Books,
    private readonly failed: FailedRequestStore,
    private readonly accounts: AccountStore,
  ) {}

  @Serves(routes.listHolds)
  async holds(@Param() { id }: { id: string }): Promise<HoldList> {
    const { id: accountId } = await this.accounts.get(id);
    const nowMs = Date.now();
    const data = (await this.books.openHolds(accountId)).map(({ amount, leftMs, ...hold }) => ({
      ...hold,
      amount: amounts(amount),
      until: new Date(nowMs + leftMs).toISOString(),
    }));
    return { object: 'list', data };
  }

  @Serves(routes.getCharge)
  get(@Param() { requestId }: { requestId: string }): Promise<ChargeView> {
    return this.charge(requestId);
  }

  @Serves(routes.getRequest)
  async request(@Param() { requestId }: { requestId: string }): Promise<RequestView> {
    const failure = await this.failed.find(requestId);
    const charge = await this.charge(requestId).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'CHARGE_NOT_FOUND') return null;
      throw error;
    });
    if (!failure && !charge) throw new Problem('REQUEST_NOT_FOUND', { param: 'requestId' });
    if (!failure) return { requestId, outcome: 'charged', failure: null, charge };
    const { requestId: _, at, ...rest } = failure;
    const outcome = failure.status >= 400 && failure.status < 499 ? 'refused' : 'failed';
    return { requestId, outcome, failure: { ...rest, at: at.toISOString() }, charge };
  }

  private async charge(requestId: string): Promise<ChargeView> {
    const charge = await this.books.charge(requestId);
    const { cost, writeOffNano, lines, refunds, at, ...rest } = charge;
    return {
      ...rest,
      at: at.toISOString(),
      state: stateOf(charge),
      cost: amounts(cost),
      writeOff: formatUsd(writeOffNano),
      lines: lines.map(({ sku, unit, units, priceNanoPerMillion, amountNano, providerNano, paid }) => ({
        sku,
        unit,
        units,
        pricePerMillion: formatUsd(priceNanoPerMillion),
        amount: formatUsd(amountNano),
        ...(providerNano !== undefined && { providerCost: formatUsd(providerNano) }),
        paid: amounts(paid),
      })),
      refunds: refunds.map((refund) => ({
        reference: refund.reference,
        cause: refund.cause,
        at: refund.at.toISOString(),
        amount: amounts(refund.amount),
      })),
    };
  }
}

function stateOf({ cost, refunds }: PostedCharge): ChargeView['state'] {
  if (refunds.length === 0) return 'charged';
  if (refunds.some(({ cause }) => cause === 'failed_request')) return 'failed_request';
  const givenBackNano = refunds.reduce((sum, { amount }) => sum + totalNano(amount), 0n);
  return givenBackNano < totalNano(cost) ? 'partly_refunded' : 'refunded';
}
