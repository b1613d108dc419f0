// Limits queries to one deployment, so that another deployment's series in the same Prometheus neither fire
// its alerts nor hide its failures nor appear on its panels.
import { CATALOGUE, prometheusName } from '@svc/telemetry';

/** Labels used by the plain rules and dashboards; the chart replaces them by those of its release. */
export const SERIES_LABELS = { release: 'svc' };

export const matchersOf = (labels) =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',');

const SUFFIXES = { histogram: ['_bucket', '_count', '_sum'] };
/** Every series by its Prometheus name, with its metric; Prometheus's own series have none. */
const SERIES = new Map([
  ['up', undefined],
  ['ALERTS', undefined],
  ...CATALOGUE.flatMap((metric) =>
    (SUFFIXES[metric.kind] ?? ['']).map((suffix) => [`${prometheusName(metric)}${suffix}`, metric]),
  ),
]);
const RECORDED = /^(?:slo|svc):/;
const WORDS = new Set(
  'and or unless bool offset by on ignoring group_left sum min max count group'.split(' '),
);

/** Matches strings, ranges and label lists, which stay unchanged, or a name with its selector. */
const TOKEN =
  /"[^"]*"|\[[^\]]*\]|\b(?:by|on|ignoring|group_left) ?\([^)]*\)|(?<![\w.])(?<name>[a-z_][\w:]*)(?<selector>\{(?:[^"}]|"[^"]*")*\})?(?<call> ?\()?/gi;

/**
 * Adds matchers to every selector of a query. `matchers` gets the metric of the series, or undefined if it is
 * not in the catalogue. Throws for a name that is neither a series nor a PromQL keyword, so that no selector
 * is missed.
 */
export function scoped(query, matchers) {
  return query.replaceAll(TOKEN, (token, ...rest) => {
    const { name, selector = '{}', call } = rest.at(-1);
    if (name === undefined || call || WORDS.has(name)) return token;
    if (!SERIES.has(name) && !RECORDED.test(name)) throw new Error(`no series is called ${name}: ${query}`);
    const own = selector.slice(1, -1);
    return `${name}{${[own, matchers(SERIES.get(name))].filter(Boolean).join(',')}}`;
  });
}

/** A query of the plain files. */
export const scopedToRelease = (query) => scoped(query, () => matchersOf(SERIES_LABELS));
