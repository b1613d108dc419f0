import { type Balances, formatUsd } from '@svc/contracts/money';
import type { Transfer } from '@svc/contracts/ports';
import type { TransferView } from '@svc/api/operator';

/** A transfer as an operator sees it. */
export function transferView({ id, amountNano, at, ...rest }: Transfer): TransferView {
  return { id: id.toString(), ...rest, amount: formatUsd(amountNano), at: at.toISOString() };
}

/** Amounts by currency, as decimal strings. */
export const amounts = ({ usdNano, diemNano }: Balances): { usd: string; diem: string } => ({
  usd: formatUsd(usdNano),
  diem: formatUsd(diemNano),
});
