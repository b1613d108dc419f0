import type { Balances } from '@svc/contracts/money';
import type { Charge, ChargeLine } from '@svc/contracts/messages';
import type { Hold } from '@svc/contracts/ports';

/** What a request delivered. `durationMs` may be fractional. */
type Charged = Pick<Charge, 'model' | 'backend' | 'usage' | 'lines' | 'durationMs' | 'endUser'>;

/** The charge for what was delivered, paid from the hold. What the hold does not cover is written off. */
export function chargeOf(
  { requestId, accountId, keyId, amount }: Hold,
  { model, backend, usage, lines, durationMs, endUser }: Charged,
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
    ...(endUser !== undefined && { endUser }),
  };
}

export function sumNano(lines: readonly ChargeLine[]): bigint {
  return lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);
}

/** Splits a total into what a hold can pay, DIEM first, and the rest. */
export function payFrom(held: Balances, total: bigint): { cost: Balances; writeOffNano: bigint } {
  const diemNano = total < held.diemNano ? total : held.diemNano;
  const rest = total - diemNano;
  const usdNano = rest < held.usdNano ? rest : held.usdNano;
  return { cost: { usdNano, diemNano }, writeOffNano: rest - usdNano };
}
