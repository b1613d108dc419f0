import { type Balances, type Charge, type Hold, minus } from '@svc/contracts';
import { payFrom, sumNano } from './price.js';

/** What a request delivered. `durationMs` may be fractional. */
type Delivered = Pick<Charge, 'model' | 'backend' | 'usage' | 'lines' | 'durationMs'>;

/** The charge for what was delivered, paid from the hold. What the hold does not cover is written off. */
export function chargeOf(
  { requestId, accountId, keyId, amount }: Hold,
  { model, backend, usage, lines, durationMs }: Delivered,
): Charge {
  const { cost, writeOffNano } = payFrom(amount, sumNano(lines));
  return {
    requestId,
    accountId,
    keyId,
    model,
    backend,
    at: new Date().toISOString(),
    usage,
    lines,
    cost,
    writeOffNano,
    durationMs: Math.round(durationMs),
  };
}

/** What the account could spend when the hold was placed, less an amount. */
export function leftOf({ before }: Hold, amount: Balances): Balances {
  return minus(before, amount);
}
