import type { ReplyAt } from '../api/routes.js';
import { count, diem, duration, nanoOf, usdNine } from '../text/format.js';
import { Copyable } from '../ui/copy.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { Time } from '../ui/time.js';

type Row = ReplyAt<'GET', '/api/v1/billing/requests'>['data'][number];
type Line = Row['lines'][number];

interface PanelProps {
  readonly row: Row;
  readonly onClose: () => void;
}

/** Units as the ledger has them, without the noise of a binary fraction. */
const units = (value: number): string => String(Number(value.toPrecision(12)));

const columnsOf = (row: Row): Column<Line>[] => [
  { title: 'Item', cell: ({ sku }) => sku },
  { title: 'Units', cell: (line) => units(line.units), isNumeric: true },
  { title: 'Price', cell: ({ pricePerUnitUsd }) => usdNine(pricePerUnitUsd), isNumeric: true },
  {
    title: 'Amount',
    cell: ({ amount, currency }) => (currency === 'USD' ? usdNine(amount) : diem(amount)),
    isNumeric: true,
    total: usdNine(
      row.lines.reduce(
        (total, { amount, currency }) => (currency === 'USD' ? total + nanoOf(amount) : total),
        0n,
      ),
    ),
  },
];

/** A request with its lines in the ledger. */
export const RequestPanel = ({ row, onClose }: PanelProps) => (
  <Dialog title="Request" atSide onClose={onClose}>
    <Copyable text={row.requestId} label="Request id" />
    <dl class="facts">
      <dt>Ended</dt>
      <dd>
        <Time at={row.timestamp} form="second" /> UTC
      </dd>
      <dt>Model</dt>
      <dd>{row.modelName}</dd>
      <dt>Key</dt>
      <dd>{row.description}</dd>
      <dt>Tokens</dt>
      <dd>
        {row.promptTokens === null || row.completionTokens === null
          ? '—'
          : `${count(row.promptTokens)} in, ${count(row.completionTokens)} out`}
      </dd>
      <dt>Duration</dt>
      <dd>{duration(row.durationMs)}</dd>
      <dt>Cost</dt>
      <dd>
        <strong>{usdNine(row.usd)}</strong>
        {row.diem > 0 && ` + ${diem(row.diem)}`}
      </dd>
    </dl>
    <h3>Lines in the ledger</h3>
    <DataTable
      caption="Lines of the request in the ledger"
      rows={row.lines}
      keyOf={({ sku, currency }) => `${sku} ${currency}`}
      columns={columnsOf(row)}
    />
    <p class="hint">Prompts and completions are not stored, so they are not here.</p>
  </Dialog>
);
