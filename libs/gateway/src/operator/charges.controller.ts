import { Controller, Param } from '@nestjs/common';
import { Books, type ChargeView, type PostedCharge, formatUsd, routes, totalNano } from '@svc/contracts';
import { Serves } from '@svc/runtime';
import { amounts } from './transfer-view.js';

/** Shows what a request cost, and why. */
@Controller()
export class ChargesController {
  constructor(private readonly books: Books) {}

  @Serves(routes.getCharge)
  async get(@Param() { requestId }: { requestId: string }): Promise<ChargeView> {
    const charge = await this.books.charge(requestId);
    const { cost, writeOffNano, lines, refunds, at, ...rest } = charge;
    return {
      ...rest,
      at: at.toISOString(),
      state: stateOf(charge),
      cost: amounts(cost),
      writeOff: formatUsd(writeOffNano),
      lines: lines.map(({ sku, unit, units, priceNanoPerMillion, amountNano, paid }) => ({
        sku,
        unit,
        units,
        pricePerMillion: formatUsd(priceNanoPerMillion),
        amount: formatUsd(amountNano),
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
