import { utcDay } from '../text/format.js';
import { Field, Segments } from '../ui/fields.js';
import { choices, choose } from './navigation.js';

const RANGES = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['days', 'Custom'],
] as const;
type Range = (typeof RANGES)[number][0];

/** The period of a page, as UTC days with both ends. */
export interface Period {
  readonly range: Range;
  readonly startDate: string;
  readonly endDate: string;
}

const isDay = (text: string | null): text is string => text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text);

/** The period in the address of the page; by default the last seven days. */
export function currentPeriod(): Period {
  const search = choices.value;
  const range = RANGES.find(([name]) => name === search.get('range'))?.[0] ?? '7';
  const [from, to] = [search.get('from'), search.get('to')];
  if (range === 'days' && isDay(from) && isDay(to) && from <= to)
    return { range, startDate: from, endDate: to };
  const days = range === 'days' ? 7 : Number(range);
  return { range, startDate: utcDay(1 - days), endDate: utcDay() };
}

/** All days of a period. */
export function daysOf({ startDate, endDate }: Pick<Period, 'startDate' | 'endDate'>): string[] {
  const days: string[] = [];
  for (let ms = Date.parse(startDate); ms <= Date.parse(endDate); ms += 86_400_000)
    days.push(new Date(ms).toISOString().slice(0, 10));
  return days;
}

/** The choice of a period. */
export function PeriodChoice() {
  const { range, startDate, endDate } = currentPeriod();
  return (
    <>
      <Segments
        label="Period"
        value={range}
        options={RANGES}
        onChange={(name) =>
          choose(
            name === 'days'
              ? { range: name, from: startDate, to: endDate }
              : { range: name, from: '', to: '' },
          )
        }
      />
      {range === 'days' && (
        <>
          <Field label="From">
            <input
              type="date"
              value={startDate}
              max={endDate}
              onChange={(event) => choose({ from: event.currentTarget.value })}
            />
          </Field>
          <Field label="To">
            <input
              type="date"
              value={endDate}
              min={startDate}
              max={utcDay()}
              onChange={(event) => choose({ to: event.currentTarget.value })}
            />
          </Field>
        </>
      )}
    </>
  );
}
