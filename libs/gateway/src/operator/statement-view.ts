import type { AccountingEntry } from '@svc/contracts/accounting';
import type { LedgerMonth, AccountStatement } from '@svc/api/operator';
import { formatUsd } from '@svc/contracts/money';
import { stringify } from 'csv-stringify/sync';

/** An entry of the books, as operators and accountants see it. */
export function entryView<Entry extends string>({
  entry,
  detail,
  currency,
  amountNano,
  changeNano,
}: Omit<AccountingEntry, 'entry'> & { readonly entry: Entry }) {
  return { entry, detail, currency, amount: formatUsd(amountNano), balanceChange: formatUsd(changeNano) };
}

/** A month as CSV. */
export const monthCsv = ({ month, entries }: LedgerMonth): string =>
  csv(
    ['month', 'entry', 'detail', 'currency', 'amount', 'balanceChange'],
    entries.map((each) => ({ month, ...each })),
  );

/** A statement as CSV. */
export const statementCsv = ({ entries }: AccountStatement): string =>
  csv(['at', 'entry', 'detail', 'reference', 'currency', 'amount', 'balanceChange'], entries);

type Row = Partial<Omit<AccountStatement['entries'][number], 'entry'>> & { readonly month?: string };

const csv = (columns: string[], rows: readonly Row[]): string =>
  stringify(
    rows.map((row) => ({ ...row, detail: asText(row.detail), reference: asText(row.reference) })),
    { header: true, columns },
  );

/** A spreadsheet would run a text that begins like a formula. */
const asText = (text = ''): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
