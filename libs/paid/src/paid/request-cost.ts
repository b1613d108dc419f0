import { formatUsd } from '@svc/contracts/money';
import type { Caller, HoldRequest } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';

type WantedAmounts = Pick<HoldRequest, 'amountNano' | 'atLeastNano' | 'preferredNano'>;

/** The refusal of a request that costs more in any case than the caller's key allows for one request. */
export function refusedCost(
  { amountNano, atLeastNano = amountNano }: WantedAmounts,
  { requestLimitNano: most }: Caller,
): Problem | undefined {
  if (most === undefined || atLeastNano <= most) return undefined;
  const message = `The API key allows at most ${formatUsd(most)} USD for one request, and this one needs ${formatUsd(atLeastNano)} USD.`;
  return new Problem('API_KEY_USD_SPEND_LIMIT_EXCEEDED', { message });
}

/** What may be held: no more than the caller's key allows for one request. */
export function withinCost<Amounts extends WantedAmounts>(
  wanted: Amounts,
  { requestLimitNano: most }: Caller,
): Amounts {
  if (most === undefined) return wanted;
  const { amountNano, preferredNano } = wanted;
  return {
    ...wanted,
    amountNano: amountNano < most ? amountNano : most,
    atLeastNano: wanted.atLeastNano ?? amountNano,
    ...(preferredNano !== undefined && { preferredNano: preferredNano < most ? preferredNano : most }),
  };
}
