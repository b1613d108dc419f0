import type { Balances } from '@svc/contracts/money';
import { type Charge, type ChargeLine, NO_USAGE } from '@svc/contracts/messages';
import type { Caller, Hold } from '@svc/contracts/ports';
import type { Delivery } from './paid-operation.js';

/** What was sold to whom. */
interface Sold {
  /** The operation's name in charges. */
  readonly name: string;
  readonly caller: Pick<Caller, 'endUser'>;
}

/** The charge for what was delivered, paid from the hold. What the hold does not cover is written off. */
export function chargeOf(
  { requestId, accountId, keyId, amount }: Hold,
  { backend, lines, usage = NO_USAGE, durationMs }: Delivery & { durationMs: number },
  { name, caller }: Sold,
): Charge {
  const { cost, writeOffNano } = payFrom(amount, sumNano(lines));
  return {
    requestId,
    accountId,
    keyId,
    model: name,
    backend,
    at: new Date().toISOString(),
    usage,
    lines,
    cost,
    writeOffNano,
    durationMs: Math.round(durationMs),
    endUser: caller.endUser,
  };
}

export function sumNano(lines: readonly ChargeLine[]): bigint {
  let sum = 0n;
  for (const { amountNano } of lines) sum += amountNano;
  return sum;
}

/** Splits a total into what a hold can pay, DIEM first, and the rest. */
export function payFrom(held: Balances, total: bigint): { cost: Balances; writeOffNano: bigint } {
  const diemNano = total < held.diemNano ? total : held.diemNano;
  const rest = total - diemNano;
  const usdNano = rest < held.usdNano ? rest : held.usdNano;
  return { cost: { usdNano, diemNano }, writeOffNano: rest - usdNano };
}
