import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

type SortValue = string | number | bigint;

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  /** What the column is sorted by; a column without it cannot be sorted. */
  readonly sortBy?: (row: T) => SortValue;
  readonly isNumeric?: boolean;
  /** The cell of the line with the totals. */
  readonly total?: ComponentChildren;
}

interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

interface Order {
  readonly at: number;
  readonly isDescending: boolean;
}

const compare = (a: SortValue, b: SortValue): number =>
  typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : a < b ? -1 : a > b ? 1 : 0;

function sorted<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  order: Order | undefined,
): readonly T[] {
  const by = order && columns[order.at]?.sortBy;
  if (!by) return rows;
  return rows.toSorted((a, b) => compare(by(a), by(b)) * (order.isDescending ? -1 : 1));
}

const ARROWS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

/** A table that its headers sort. On a narrow screen each row is a card; the roles keep it a table. */
export function DataTable<T>({ caption, columns, rows, keyOf }: TableProps<T>) {
  const [order, setOrder] = useState<Order>();
  const stateOf = (at: number) =>
    order?.at !== at ? 'none' : order.isDescending ? 'descending' : 'ascending';
  const sort = (at: number) =>
    setOrder({ at, isDescending: order?.at === at ? !order.isDescending : columns[at]?.isNumeric === true });
  const alignment = ({ isNumeric }: Column<T>) => (isNumeric ? 'num' : '');
  return (
    <div class="table-box cards">
      <table role="table">
        <caption class="sr">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, at) => (
              <th
                key={column.title}
                role="columnheader"
                scope="col"
                class={alignment(column)}
                aria-sort={column.sortBy && stateOf(at)}
              >
                {column.sortBy ? (
                  <button type="button" onClick={() => sort(at)}>
                    {column.title}
                    <span aria-hidden="true">{ARROWS[stateOf(at)]}</span>
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted(rows, columns, order).map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column) => (
                <td key={column.title} role="cell" class={alignment(column)} data-label={column.title}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {columns.some(({ total }) => total !== undefined) && (
          <tfoot role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <td key={column.title} role="cell" class={alignment(column)} data-label={column.title}>
                  {column.total}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
