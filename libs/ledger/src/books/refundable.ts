import { type Balances, totalNano } from '@svc/contracts/money';
import { Problem } from '@svc/contracts/problems';
import type { Refund } from '@svc/contracts/ports';

/** A refund that was made before. */
export interface PastRefund {
  /** Grows from refund to refund. */
  readonly id: bigint;
  readonly requestId: string;
  readonly reference: string;
  readonly amount: Balances;
}

/**
 * What a refund returns of a charge, or `undefined` if that refund was made before. `past` has all refunds of
 * the request, and the one with this reference. Throws: REFERENCE_REUSED, REFUND_TOO_LARGE.
 */
export function refundable(
  refund: Refund,
  charge: Balances,
  past: readonly PastRefund[],
): Balances | undefined {
  const ofRequest = past.filter(({ requestId }) => requestId === refund.requestId);
  const earlier = past.find(({ reference }) => reference === refund.reference);
  if (earlier) {
    if (earlier.requestId !== refund.requestId)
      throw reused('This reference was used before for another request.');
    const leftThen = leftOf(
      charge,
      ofRequest.filter(({ id }) => id < earlier.id),
    );
    if (!isSame(refund.amount ?? leftThen, earlier.amount)) throw reused();
    return undefined;
  }
  const left = leftOf(charge, ofRequest);
  const amount = refund.amount ?? left;
  if (amount.usdNano > left.usdNano) throw tooLarge('usd');
  if (amount.diemNano > left.diemNano) throw tooLarge('diem');
  if (totalNano(amount) === 0n) throw tooLarge('requestId');
  return amount;
}

function leftOf(charge: Balances, refunds: readonly PastRefund[]): Balances {
  let { usdNano, diemNano } = charge;
  for (const { amount } of refunds) {
    usdNano -= amount.usdNano;
    diemNano -= amount.diemNano;
  }
  return { usdNano, diemNano };
}

const isSame = (a: Balances, b: Balances): boolean => a.usdNano === b.usdNano && a.diemNano === b.diemNano;

const reused = (message?: string): Problem =>
  new Problem('REFERENCE_REUSED', { param: 'reference', ...(message !== undefined && { message }) });

const tooLarge = (param: 'usd' | 'diem' | 'requestId'): Problem => new Problem('REFUND_TOO_LARGE', { param });
