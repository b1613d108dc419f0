// Links of panels: to the runbooks that their text names, and from a series to its traces.
import { ALERTS } from './alerts.mjs';
import { runbookUrl } from './runbooks.mjs';

const RUNBOOKS = [...new Set(ALERTS.map(({ runbook }) => runbook))];

/** The runbooks that a panel's text names. */
export function runbookLinks({ todo }) {
  if (!/\brunbooks?\b/i.test(todo)) return [];
  const words = new Set(todo.match(/[a-z]+(?:-[a-z]+)*/g));
  const named = RUNBOOKS.filter((name) => words.has(name));
  return named.map((name) => ({
    type: 'link',
    title: `Runbook ${name}`,
    url: runbookUrl(name),
    targetBlank: true,
  }));
}

/** Labels of series that are also attributes of spans, and whether these are strings. */
const ATTRIBUTES = {
  http_route: ['http.route', true],
  http_response_status_code: ['http.response.status_code', false],
  svc_problem: ['svc.problem', true],
  gen_ai_request_model: ['gen_ai.request.model', true],
  svc_backend: ['svc.backend', true],
  svc_job: ['svc.job', true],
  messaging_destination_name: ['messaging.destination.name', true],
};

const labelsOf = (legend) => Array.from(legend.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label);

/** A search for traces in Grafana, with the labels of the clicked series. */
function traceSearch(labels) {
  const conditions = labels.map((label) => {
    const [attribute, isText] = ATTRIBUTES[label];
    const value = `\${__field.labels.${label}:percentencode}`;
    return `span.${attribute} = ${isText ? `"${value}"` : value}`;
  });
  const query = { refId: 'A', queryType: 'traceql', query: `{ ${conditions.join(' && ')} }` };
  const pane = {
    datasource: '${traces}',
    queries: [query],
    range: { from: '${__from}', to: '${__to}' },
  };
  // Grafana replaces variables only if they are not URL-encoded.
  const panes = encodeURIComponent(JSON.stringify({ traces: pane })).replaceAll(
    /%24%7B(.*?)%7D/g,
    (_, name) => `\${${decodeURIComponent(name)}}`,
  );
  return `/explore?schemaVersion=1&orgId=1&panes=${panes}`;
}

/** Links from the series of a panel to their traces, if the labels common to all its series allow it. */
export function traceLinks({ queries }) {
  const [first, ...rest] = queries.map(([, legend]) => labelsOf(legend));
  const labels = first.filter((label) => ATTRIBUTES[label] && rest.every((others) => others.includes(label)));
  if (labels.length === 0) return [];
  return [{ type: 'link', title: 'Traces', url: traceSearch(labels), targetBlank: true }];
}
