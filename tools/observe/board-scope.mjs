// The variables of dashboards, which limit every panel to a deployment, service, model and backend.
import { BACKEND, MODEL, m } from './names.mjs';
import { SERIES_LABELS, scoped } from './scope.mjs';

/** The chart replaces these two by the labels of its release, if there are more of them. */
const RELEASE = 'namespace=~"$namespace",release=~"$release"';
const RELEASE_AND_JOB = `${RELEASE},job=~"$job"`;
const PROCESS = `${RELEASE_AND_JOB},instance=~"$instance"`;

/** Variables of boards about models, by label. */
const OF_MODELS = { model: MODEL, backend: BACKEND };

/** The limits of a board's queries: recorded ratios have no job, and not every metric has a model. */
export const matchersOfBoard =
  ({ variables = [] }) =>
  (metric) => {
    if (!metric) return RELEASE;
    const labels = metric.descriptor.labels.map((label) => label.replaceAll(/\W/g, '_'));
    const more = variables.filter((name) => labels.includes(OF_MODELS[name]));
    return [PROCESS, ...more.map((name) => `${OF_MODELS[name]}=~"$${name}"`)].join(',');
  };

/**
 * Values of Grafana's variables for the deployment of `npm run observe`, where everything happens within
 * seconds.
 */
const SHOWN = {
  namespace: '',
  release: SERIES_LABELS.release,
  job: '.*',
  instance: '.*',
  model: '.*',
  backend: '.*',
  __rate_interval: '1m',
};

/** A board's query as Prometheus gets it if no variable is selected. */
export const asShown = (query) => query.replaceAll(/\$(\w+)/g, (_, name) => SHOWN[name]);

/** Versions that did not exist a while ago. */
export const DEPLOYMENTS = scoped(
  `count by (service_name, service_version) (${m.runtime.build}) unless count by (service_name, service_version) (${m.runtime.build} offset 5m)`,
  () => RELEASE_AND_JOB,
);

const REFRESH_WITH_TIME = 2;

function valuesOf({ name, series, label }, source) {
  const query = `label_values(${series}, ${label})`;
  return {
    type: 'query',
    name,
    label: `${name[0].toUpperCase()}${name.slice(1)}`,
    datasource: source,
    definition: query,
    query: { query, refId: 'values' },
    refresh: REFRESH_WITH_TIME,
    sort: 1,
  };
}

/**
 * A selector of several values. If no series has the label, as outside of Kubernetes, it has none and
 * selects series without the label.
 */
const one = (of, source) => ({ ...valuesOf(of, source), multi: false, includeAll: false });
const any = (of, source) => ({
  ...valuesOf(of, source),
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: ['All'], value: ['$__all'] },
});

export function variablesOf({ variables = [] }, source) {
  const of = (matchers) => scoped(m.runtime.build, () => matchers);
  const attempts = scoped(m.router.attempts, () => RELEASE);
  return [
    { type: 'datasource', name: 'source', label: 'Source', query: 'prometheus' },
    { type: 'datasource', name: 'traces', label: 'Traces', query: 'tempo' },
    one({ name: 'namespace', series: m.runtime.build, label: 'namespace' }, source),
    one({ name: 'release', series: of('namespace=~"$namespace"'), label: 'release' }, source),
    any({ name: 'job', series: of(RELEASE), label: 'job' }, source),
    any({ name: 'instance', series: of(RELEASE_AND_JOB), label: 'instance' }, source),
    ...variables.map((name) => any({ name, series: attempts, label: OF_MODELS[name] }, source)),
  ];
}
