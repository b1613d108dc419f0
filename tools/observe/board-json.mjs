// Dashboards as Grafana reads them; their panels by its own builders.
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const PanelBuilders = { timeseries: TimeseriesBuilder, stat: StatBuilder };

const SOURCE = { type: 'prometheus', uid: '${source}' };
const WIDTH = 8;
const HEIGHT = 8;
const COLUMNS = 3;

function panelOf({ title, kind = 'timeseries', unit, bad, todo, queries }, index) {
  const panel = new PanelBuilders[kind]()
    .title(title)
    .description(`**Bad:** ${bad}\n\n**Do:** ${todo}`)
    .unit(unit)
    .datasource(SOURCE)
    .gridPos({ x: (index % COLUMNS) * WIDTH, y: Math.floor(index / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT });
  queries.forEach(([expr, legend], number) => {
    const query = new DataqueryBuilder()
      .expr(expr)
      .legendFormat(legend)
      .refId(String.fromCodePoint(65 + number));
    panel.withTarget(kind === 'stat' ? query.instant() : query);
  });
  return panel;
}

/** The schema of the files, which every version of Grafana since 10 reads. */
const SCHEMA_VERSION = 39;

/** A dashboard as JSON; `name` is its file and its id. */
export function boardJson(name, { title, panels }) {
  const board = {
    title: `Svc: ${title}`,
    uid: `svc-${name}`,
    tags: ['svc'],
    timezone: 'utc',
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    templating: { list: [{ type: 'datasource', name: 'source', label: 'Source', query: 'prometheus' }] },
    panels: panels.map((panel, index) => ({ ...panelOf(panel, index).build(), id: index + 1 })),
  };
  return `${JSON.stringify(board, undefined, 2)}\n`;
}
