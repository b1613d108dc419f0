import type { ReplyAt } from '../api/routes.js';
import { nanoOf } from '../text/format.js';

export type DailyRow = ReplyAt<'GET', '/api/v1/billing/usage-analytics/daily'>['data'][number];

/** What usage is grouped by. */
export type Grouping = 'model' | 'key' | 'day';

/** A count of tokens; null if nothing was charged by tokens. */
type Tokens = number | null;

/** The usage of a model, a key or a day, or of all. */
export interface UsageGroup {
  readonly name: string;
  readonly usdNano: bigint;
  readonly diemNano: bigint;
  readonly inputTokens: Tokens;
  readonly outputTokens: Tokens;
  readonly cacheReadTokens: Tokens;
  readonly cacheWriteTokens: Tokens;
}

const added = (a: Tokens, b: Tokens): Tokens => (a === null ? b : b === null ? a : a + b);

/** The sum of rows, exact to the nano-dollar. */
export function sumOf(name: string, rows: readonly DailyRow[]): UsageGroup {
  const start: UsageGroup = {
    name,
    usdNano: 0n,
    diemNano: 0n,
    inputTokens: null,
    outputTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
  };
  return rows.reduce(
    (total, row) => ({
      name,
      usdNano: total.usdNano + nanoOf(row.usd),
      diemNano: total.diemNano + nanoOf(row.diem),
      inputTokens: added(total.inputTokens, row.inputTokens),
      outputTokens: added(total.outputTokens, row.outputTokens),
      cacheReadTokens: added(total.cacheReadTokens, row.cacheReadTokens),
      cacheWriteTokens: added(total.cacheWriteTokens, row.cacheWriteTokens),
    }),
    start,
  );
}

/** The id of a key, or the word for requests without one. */
const keyIdOf = ({ apiKeyId }: DailyRow): string => apiKeyId ?? 'web';

/** Keys may have the same description, so the end of their id is added where that is so. */
function keyNames(rows: readonly DailyRow[]): Map<string, string> {
  const ids = new Map(rows.map((row) => [keyIdOf(row), row.description]));
  const descriptions = [...ids.values()];
  return new Map(
    Array.from(ids, ([id, description]) => {
      const isUnique = descriptions.filter((other) => other === description).length === 1;
      return [id, isUnique ? description : `${description} (${id.slice(-6)})`];
    }),
  );
}

/** Names each row by what it is grouped by. */
function namesOf(rows: readonly DailyRow[], grouping: Grouping): (row: DailyRow) => string {
  if (grouping === 'model') return ({ modelName }) => modelName;
  if (grouping === 'day') return ({ date }) => date;
  const names = keyNames(rows);
  return (row) => names.get(keyIdOf(row)) ?? row.description;
}

/** The groups of rows, those with the highest cost first. */
export function groupsOf(rows: readonly DailyRow[], grouping: Grouping): UsageGroup[] {
  const groups = Map.groupBy(rows, namesOf(rows, grouping));
  const sums = Array.from(groups, ([name, members]) => sumOf(name, members));
  const cost = ({ usdNano, diemNano }: UsageGroup) => usdNano + diemNano;
  return grouping === 'day'
    ? sums.toSorted((a, b) => b.name.localeCompare(a.name))
    : sums.toSorted((a, b) => (cost(a) < cost(b) ? 1 : cost(a) > cost(b) ? -1 : 0));
}

/** What the bars show. */
export type Measure = 'cost' | 'tokens';

const measured = (row: DailyRow, measure: Measure): number =>
  measure === 'cost'
    ? Number(nanoOf(row.usd) + nanoOf(row.diem)) / 1e9
    : [row.inputTokens, row.outputTokens, row.cacheReadTokens, row.cacheWriteTokens].reduce<number>(
        (total, tokens) => total + (tokens ?? 0),
        0,
      );

/** More groups than this share the last colour, under one name. */
const MOST_SERIES = 8;
const OTHERS = 'Others';

interface SeriesChoice {
  readonly days: readonly string[];
  readonly grouping: Exclude<Grouping, 'day'>;
  readonly measure: Measure;
}

/** The bars of each day by model or key. */
export function seriesOf(rows: readonly DailyRow[], { days, grouping, measure }: SeriesChoice) {
  const nameOf = namesOf(rows, grouping);
  const groups = groupsOf(rows, grouping).map(({ name }) => name);
  const own = new Set(groups.slice(0, MOST_SERIES));
  const shown = groups.length > MOST_SERIES ? [...own, OTHERS] : [...own];
  const sums = new Map<string, number>();
  for (const row of rows) {
    const name = nameOf(row);
    const at = `${row.date} ${own.has(name) ? name : OTHERS}`;
    sums.set(at, (sums.get(at) ?? 0) + measured(row, measure));
  }
  return shown.map((name) => ({ name, values: days.map((day) => sums.get(`${day} ${name}`) ?? 0) }));
}
