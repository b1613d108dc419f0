// Dashboards in Grafana's JSON; panels are made by Grafana's own builders. A board shows the rows that fit on
// the first screen; the other rows are collapsed below them.
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { DEPLOYMENTS, matchersOfBoard, variablesOf } from './board-scope.mjs';
import { runbookLinks, traceLinks } from './panel-links.mjs';
import { RUNBOOKS_URL } from './runbooks.mjs';
import { scoped } from './scope.mjs';
import { thresholdsOf } from './thresholds.mjs';

const PanelBuilders = { timeseries: TimeseriesBuilder, stat: StatBuilder };

const SOURCE = { type: 'prometheus', uid: '${source}' };
const COLUMNS = 24;
/** A chart with its legend, and a single number. */
const HEIGHT = { timeseries: 9, stat: 4 };
const MOST_IN_LINE = { timeseries: 3, stat: 6 };
/** The width of a number beside charts. */
const NUMBER_COLUMNS = 6;

/** A number that a person can take in at once. */
const MOST_ON_FIRST_SCREEN = 12;

/** Parts of a panel that Grafana's builders accept. */
const part = (value) => ({ build: () => value });

/** A chart with a table of its series below it, highest value first, and a line at the threshold. */
const chart = (builder, thresholds) =>
  builder
    .legend(
      part({
        showLegend: true,
        displayMode: 'table',
        placement: 'bottom',
        calcs: ['lastNotNull', 'max'],
        sortBy: 'Last *',
        sortDesc: true,
      }),
    )
    .tooltip(part({ mode: 'multi', sort: 'desc' }))
    .thresholdsStyle(part({ mode: thresholds.some(({ value }) => value > 0) ? 'dashed' : 'off' }));

const builderOf = (kind, thresholds) =>
  kind === 'stat' ? new StatBuilder().noValue('none') : chart(new PanelBuilders[kind](), thresholds);

/** The zero of a query without results has no labels, and would be a series without a name. */
function withNamedZero(expr, legend) {
  const [, label] = /\{\{(\w+)\}\}/.exec(legend) ?? [];
  if (!label) return expr;
  return expr.replace(/ or vector\(0\)$/, ` or label_replace(vector(0), "${label}", "none", "", "")`);
}

function panelOf(panel, matchers) {
  const { title, kind = 'timeseries', unit, bad, todo, queries, exemplars = false } = panel;
  const thresholds = thresholdsOf(panel);
  const builder = builderOf(kind, thresholds)
    .title(title)
    .description(`**Bad:** ${bad}\n\n**Do:** ${todo}`)
    .unit(unit)
    .thresholds(part({ mode: 'absolute', steps: thresholds }))
    .links(runbookLinks(panel).map(part))
    .dataLinks(traceLinks(panel).map(part))
    .datasource(SOURCE);
  queries.forEach(([expr, legend], number) => {
    const query = new DataqueryBuilder()
      .expr(withNamedZero(scoped(expr, matchers), legend))
      .legendFormat(legend)
      .refId(String.fromCodePoint(65 + number));
    if (exemplars) query.exemplar(true);
    builder.withTarget(kind === 'stat' ? query.instant() : query);
  });
  return builder.build();
}

/** A board's panels, grouped by the question that they answer. */
function rowsOf({ title, panels }) {
  const rows = [];
  for (const { row, ...panel } of panels) {
    if (row) rows.push({ question: row, panels: [] });
    else if (rows.length === 0) throw new Error(`${title}: ${panel.title} is in no row`);
    else rows.at(-1).panels.push(panel);
  }
  return rows;
}

const kindOf = ({ kind = 'timeseries' }) => kind;

/**
 * A row's single numbers, then its charts, in lines that are full and about equally long. A number that would
 * have a line of its own is beside the first charts instead.
 */
function linesOf(panels) {
  const [numbers, charts] = ['stat', 'timeseries'].map((kind) => {
    const left = panels.filter((panel) => kindOf(panel) === kind);
    const lines = [];
    for (let count = Math.ceil(left.length / MOST_IN_LINE[kind]); count > 0; count -= 1)
      lines.push(left.splice(0, Math.ceil(left.length / count)));
    return lines;
  });
  if (numbers.length !== 1 || numbers[0].length > 1 || charts.length === 0) return [...numbers, ...charts];
  const [first, ...others] = charts;
  return [[...numbers[0], ...first], ...others];
}

/** Where the panels of a line begin and end. */
function columnsOf(line) {
  const narrow = line.length > 1 && kindOf(line[0]) !== kindOf(line[1]) ? NUMBER_COLUMNS : 0;
  const even = narrow > 0 ? line.length - 1 : line.length;
  return line.map((_panel, index) => {
    const at = (count) => narrow + Math.floor((count * (COLUMNS - narrow)) / even);
    if (narrow === 0) return [at(index), at(index + 1)];
    return index === 0 ? [0, narrow] : [at(index - 1), at(index)];
  });
}

/** Lays out rows below each other. */
function placed(rows, matchers) {
  let y = 0;
  let shown = 0;
  let isCollapsed = false;
  const made = [];
  for (const { question, panels } of rows) {
    shown += panels.length;
    isCollapsed ||= shown > MOST_ON_FIRST_SCREEN;
    const gridPos = { x: 0, y, w: COLUMNS, h: 1 };
    const row = { type: 'row', title: question, collapsed: isCollapsed, gridPos };
    y += 1;
    const inRow = [];
    for (const line of linesOf(panels)) {
      const height = HEIGHT[kindOf(line.at(-1))];
      const columns = columnsOf(line);
      line.forEach((panel, index) => {
        const [x, end] = columns[index];
        inRow.push({ ...panelOf(panel, matchers), gridPos: { x, y, w: end - x, h: height } });
      });
      y += height;
    }
    made.push({ ...row, panels: isCollapsed ? inRow : [] }, ...(isCollapsed ? [] : inRow));
  }
  return made;
}

/** Panels with ids that are unique on the board. */
function numbered(panels, first = 1) {
  let id = first;
  return panels.map((panel) => {
    const own = { ...panel, id };
    id += 1;
    if (!panel.panels) return own;
    own.panels = numbered(panel.panels, id);
    id += panel.panels.length;
    return own;
  });
}

const LINKS = [
  { type: 'dashboards', title: 'Boards', tags: ['svc'], asDropdown: true, includeVars: true, keepTime: true },
  { type: 'link', title: 'Runbooks', url: `${RUNBOOKS_URL}/README.md`, icon: 'doc', targetBlank: true },
];

/** Annotations for rollouts, where a new version appears. */
const annotation = {
  name: 'Deployments',
  datasource: SOURCE,
  enable: true,
  iconColor: 'blue',
  expr: DEPLOYMENTS,
  step: '60s',
  titleFormat: 'Deployed',
  textFormat: '{{service_name}} {{service_version}}',
};

/** The schema version of the files, which Grafana 10 and later can read. */
const SCHEMA_VERSION = 39;

/** A dashboard as JSON; `name` is its file name and its id. */
export function boardJson(name, board) {
  const made = {
    title: `Svc: ${board.title}`,
    uid: `svc-${name}`,
    tags: ['svc'],
    timezone: 'utc',
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    links: LINKS,
    annotations: { list: [annotation] },
    templating: { list: variablesOf(board, SOURCE) },
    panels: numbered(placed(rowsOf(board), matchersOfBoard(board))),
  };
  return `${JSON.stringify(made, undefined, 2)}\n`;
}
