import type { Currency } from '@svc/contracts/money';
import type { Transfer, TransferKind } from '@svc/contracts/ports';

/** A transfer as stored. */
export interface TransferRow {
  readonly id: bigint;
  readonly at: Date;
  readonly kind: TransferKind;
  readonly debit_account: string;
  readonly credit_account: string;
  readonly currency: Currency;
  readonly amount_nano: bigint;
  readonly reference: string;
}

/** The columns of a `TransferRow`. */
export const TRANSFER = 'id, at, kind, debit_account, credit_account, currency, amount_nano, reference';

export function transferOf(row: TransferRow): Transfer {
  return {
    id: row.id,
    kind: row.kind,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    currency: row.currency,
    amountNano: row.amount_nano,
    reference: row.reference,
    at: row.at,
  };
}
