/** Characters that control a terminal, or the direction of text. Customers choose some of what is shown. */
const CONTROLS = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** The text without characters that control a terminal. */
export const harmless = (text: string): string => text.replaceAll(CONTROLS, '\uFFFD');

/** A JSON value for people: lists as tables, an object as its members, and its lists below them. */
export function tablesOf(value: unknown): string {
  if (!isRecord(value)) return harmless(String(value));
  const { data, nextBefore, ...rest } = value;
  if (Array.isArray(data)) {
    const more = typeof nextBefore === 'string' ? `\nMore: --before ${harmless(nextBefore)}` : '';
    return `${table(data)}${more}`;
  }
  const members = Object.entries(rest).filter(([name]) => name !== 'object');
  const lists = members.filter(([, member]) => isTable(member));
  const single = flat(Object.fromEntries(members.filter(([, member]) => !isTable(member))));
  return [aligned([...single]), ...lists.map(([name, list]) => `${name}\n${table(list as unknown[])}`)].join(
    '\n\n',
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTable = (value: unknown): boolean => Array.isArray(value) && value.some(isRecord);

/** Rows with the columns that any of them has. */
function table(list: readonly unknown[]): string {
  if (list.length === 0) return 'None.';
  const rows = list.map((each) => flat(isRecord(each) ? each : { value: each }));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return aligned([
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => row.get(column) ?? '')),
  ]);
}

/** Members by their path, such as `balances.usd`; without those that are empty. */
function flat(record: Readonly<Record<string, unknown>>, prefix = ''): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(record)) {
    const path = harmless(prefix + name);
    if (isRecord(value)) for (const [inner, text] of flat(value, `${path}.`)) texts.set(inner, text);
    else if (value !== null && value !== undefined && value !== '') texts.set(path, textOf(value));
  }
  return texts;
}

const textOf = (value: unknown): string =>
  harmless(
    Array.isArray(value)
      ? value.map((each) => (isRecord(each) ? JSON.stringify(each) : String(each))).join(', ')
      : String(value),
  );

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
