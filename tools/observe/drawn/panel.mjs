// A panel as SVG and HTML, according to its JSON: unit, thresholds, legend.
import { escaped, formatOf, ticks } from './values.mjs';

/** Grafana's classic palette, for a light background. */
const COLOURS = [
  '#56a64b',
  '#e0a30b',
  '#3274d9',
  '#e55400',
  '#c4162a',
  '#8f3bb8',
  '#1f9e9e',
  '#7c5b00',
  '#d0569f',
  '#37872d',
  '#705da0',
  '#5f6b7a',
];
const NAMED = { green: '#37872d', yellow: '#c79100', orange: '#e55400', red: '#c4162a' };

const [LEFT, RIGHT, TOP, BOTTOM] = [88, 8, 8, 20];
/** Grafana gives a legend below a chart at most this share of the panel's height, and scrolls the rest. */
const LEGEND_SHARE = 0.35;
const LEGEND_ROW = 17;

const finite = (points) => points.map(([, value]) => value).filter(Number.isFinite);

/** The range of a chart's axis: its data, and zero. */
function rangeOf(series, exemplars) {
  const values = [...series.flatMap(({ points }) => finite(points)), ...exemplars.map(([, value]) => value)];
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  return least === most ? [0, 1] : [least, most + (most - least) * 0.05];
}

/** Boolean axes have no intermediate ticks. */
const marksOf = (unit, least, most) => (unit === 'bool_yes_no' ? [0, 1] : ticks(least, most, unit));

function axes({ x, y, width, height }, { least, most, unit, period }) {
  const format = formatOf(unit);
  const lines = marksOf(unit, least, most).map(
    (value) =>
      `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${y(value)}" y2="${y(value)}" class="grid"/>` +
      `<text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${escaped(format(value))}</text>`,
  );
  const { fromSeconds, toSeconds } = period;
  const every = Math.max(60, Math.ceil((toSeconds - fromSeconds) / 6 / 60) * 60);
  for (let at = Math.ceil(fromSeconds / every) * every; at <= toSeconds; at += every)
    lines.push(
      `<line x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${height - BOTTOM}" class="grid"/>` +
        `<text x="${x(at)}" y="${height - 5}" text-anchor="middle">${new Date(at * 1_000).toISOString().slice(11, 16)}</text>`,
    );
  return lines.join('');
}

/** A line with gaps where there are no values. */
function pathOf(points, { x, y }, gapSeconds) {
  let before = Number.NEGATIVE_INFINITY;
  let path = '';
  for (const [at, value] of points) {
    if (!Number.isFinite(value)) continue;
    path += `${at - before > gapSeconds ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    before = at;
  }
  return path;
}

function chart(panel, { series, exemplars }, { width, height, period }) {
  const { unit, thresholds, custom } = panel.fieldConfig.defaults;
  const [least, most] = rangeOf(series, exemplars);
  const { fromSeconds, toSeconds, stepSeconds } = period;
  const at = {
    width,
    height,
    x: (seconds) => LEFT + ((seconds - fromSeconds) / (toSeconds - fromSeconds)) * (width - LEFT - RIGHT),
    y: (value) => height - BOTTOM - ((value - least) / (most - least)) * (height - TOP - BOTTOM),
  };
  const bounds = custom?.thresholdsStyle?.mode === 'dashed' ? thresholds.steps : [];
  const marks = bounds
    .filter(({ value }) => value !== null && value >= least && value <= most)
    .map(
      ({ value, color }) =>
        `<line x1="${LEFT}" x2="${width - RIGHT}" y1="${at.y(value)}" y2="${at.y(value)}" stroke="${NAMED[color]}" stroke-dasharray="6 4"/>`,
    );
  const lines = series.map(
    ({ points, colour }) =>
      `<path d="${pathOf(points, at, stepSeconds * 1.5)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
  );
  const dots = exemplars.map(
    ([seconds, value]) =>
      `<path d="M${at.x(seconds)} ${at.y(value) - 4}l4 4l-4 4l-4 -4z" fill="#3274d9" fill-opacity=".55"/>`,
  );
  const grid = axes(at, { least, most, unit, period });
  return `<svg width="${width}" height="${height}">${grid}${marks.join('')}${lines.join('')}${dots.join('')}</svg>`;
}

/** A table of the series, highest last value first, cut off where Grafana would scroll. */
function legend(series, format, rows) {
  const cells = series
    .slice(0, rows)
    .map(
      ({ name, colour, last, max }) =>
        `<tr><td><i style="background:${colour}"></i>${escaped(name)}</td><td>${escaped(format(last))}</td><td>${escaped(format(max))}</td></tr>`,
    );
  const more =
    series.length > rows
      ? `<tr><td colspan="3" class="more">${series.length - rows} more, by scrolling</td></tr>`
      : '';
  return `<table><tr><th>Name</th><th>Last *</th><th>Max</th></tr>${cells.join('')}${more}</table>`;
}

function timeseries(panel, { series, exemplars }, { width, height, period }) {
  const named = series
    .map(({ name, points }, index) => {
      const values = finite(points);
      return {
        name,
        points,
        colour: COLOURS[index % COLOURS.length],
        last: values.at(-1),
        max: Math.max(...values),
      };
    })
    .filter(({ last }) => last !== undefined)
    .toSorted((a, b) => b.last - a.last);
  if (named.length === 0) return '<p class="none">No data</p>';
  const fits = Math.floor((height * LEGEND_SHARE) / LEGEND_ROW) - 1;
  const rows = named.length > fits ? fits - 1 : named.length;
  const table = (1 + Math.min(named.length, fits)) * LEGEND_ROW;
  const drawn = chart(panel, { series: named, exemplars }, { width, height: height - table - 6, period });
  return drawn + legend(named, formatOf(panel.fieldConfig.defaults.unit), rows);
}

function stat(panel, { series }, height) {
  const { unit, thresholds, noValue } = panel.fieldConfig.defaults;
  const format = formatOf(unit);
  const values = series.map(({ name, points }) => ({ name, value: points.at(-1)?.[1] }));
  if (values.length === 0) return `<p class="stat">${escaped(noValue)}</p>`;
  const colourOf = (value) =>
    NAMED[thresholds.steps.findLast((step) => step.value === null || value >= step.value).color];
  const parts = values.map(
    ({ name, value }) =>
      `<div><small>${values.length > 1 ? escaped(name) : ''}</small><b style="color:${colourOf(value)}">${escaped(Number.isFinite(value) ? format(value) : noValue)}</b></div>`,
  );
  const size = values.length > 6 ? 18 : values.length > 2 ? 24 : 36;
  return `<div class="stats" style="font-size:${size}px;height:${height}px">${parts.join('')}</div>`;
}

/** The content of a panel, and whether it has data. */
export async function panelBody(panel, asked, { width, height }) {
  const found = await Promise.all(panel.targets.map((target) => asked.series(target)));
  const seen = await Promise.all(panel.targets.map((target) => asked.exemplars(target)));
  const data = { series: found.flat(), exemplars: seen.flat() };
  const body =
    panel.type === 'stat'
      ? stat(panel, data, height)
      : timeseries(panel, data, { width, height, period: asked.period });
  return { body, hasData: data.series.length > 0 };
}
