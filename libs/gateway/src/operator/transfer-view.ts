import { type Transfer, type TransferView, formatUsd } from '@svc/contracts';

/** A transfer as an operator sees it. */
export function transferView({ id, amountNano, at, ...rest }: Transfer): TransferView {
  return { id: id.toString(), ...rest, amount: formatUsd(amountNano), at: at.toISOString() };
}
