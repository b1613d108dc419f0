import { useId } from 'preact/hooks';

interface BarSeries {
  readonly name: string;
  /** One value for each label, not below zero. */
  readonly values: readonly number[];
}

interface BarsProps {
  /** What the chart shows, for those who cannot see it. */
  readonly summary: string;
  /** One for each bar, such as a day. */
  readonly labels: readonly string[];
  readonly series: readonly BarSeries[];
  readonly format: (value: number) => string;
}

const HEIGHT = 200;
const TOP = 22;
const BOTTOM = 22;
const PLOT = HEIGHT - TOP - BOTTOM;
/** The series after these are drawn in the colour of the last. */
const COLOURS = 9;
const colourOf = (at: number): string => `s${Math.min(at, COLOURS - 1)}`;

/** A round number at or above the highest bar, so that the lines of the grid have short labels. */
export function ceilingOf(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= most) ?? 10;
  return Number((step * power).toPrecision(3));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

interface BarProps extends BarsProps {
  readonly at: number;
  readonly ceiling: number;
}

/** The bar of one label, from the bottom up, with its numbers as a hint. */
function Bar({ labels, series, format, at, ceiling }: BarProps) {
  const slot = 100 / labels.length;
  const shown = series.map(({ name, values }, index) => ({ name, index, value: values[at] ?? 0 }));
  const present = shown.filter(({ value }) => value > 0);
  const texts = present.map(({ name, value }) => `${name}: ${format(value)}`);
  let y = HEIGHT - BOTTOM;
  return (
    <g>
      <title>
        {[`${labels[at]}: ${format(sum(present.map(({ value }) => value)))}`, ...texts].join('\n')}
      </title>
      {/* So that the hint also appears beside and above the bar. */}
      <rect x={`${slot * at}%`} y={TOP} width={`${slot}%`} height={PLOT} fill="transparent" />
      {present.map(({ index, value }) => {
        const height = (value / ceiling) * PLOT;
        y -= height;
        return (
          <rect
            key={index}
            class={colourOf(index)}
            x={`${slot * (at + 0.14)}%`}
            y={y}
            width={`${slot * 0.72}%`}
            height={Math.max(height, 0.75)}
          />
        );
      })}
    </g>
  );
}

/** The first, the middle and the last label. */
function Labels({ labels }: Pick<BarsProps, 'labels'>) {
  const places = [
    [0, '0%', 'start'],
    [Math.floor(labels.length / 2), '50%', 'middle'],
    [labels.length - 1, '100%', 'end'],
  ] as const;
  return (
    <>
      {places.map(([at, x, anchor]) => (
        <text key={x} class="axis" x={x} y={HEIGHT - 6} text-anchor={anchor}>
          {labels[at]}
        </text>
      ))}
    </>
  );
}

/** Stacked bars. They are an image with a summary, so a table with the numbers belongs beside them. */
export function Bars(props: BarsProps) {
  const { summary, labels, series, format } = props;
  const titleId = useId();
  const ceiling = ceilingOf(
    Math.max(0, ...labels.map((_, at) => sum(series.map(({ values }) => values[at] ?? 0)))),
  );
  return (
    <figure class="chart">
      <svg role="img" aria-labelledby={titleId} height={HEIGHT}>
        <title id={titleId}>{summary}</title>
        {[1, 0.5, 0].map((part) => (
          <line
            key={part}
            class="grid"
            x1="0"
            x2="100%"
            y1={TOP + PLOT * (1 - part)}
            y2={TOP + PLOT * (1 - part)}
          />
        ))}
        {labels.map((label, at) => (
          <Bar key={label} {...props} at={at} ceiling={ceiling} />
        ))}
        {[1, 0.5].map((part) => (
          <text key={part} class="axis" x="0" y={TOP + PLOT * (1 - part) - 5}>
            {format(ceiling * part)}
          </text>
        ))}
        <Labels labels={labels} />
      </svg>
      {series.length > 1 && (
        <ul class="legend">
          {series.map(({ name }, at) => (
            <li key={name}>
              <i class={colourOf(at)} />
              {name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}
