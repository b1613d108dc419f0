// Limits queries to one deployment, so that another one's series beside it in the same Prometheus neither fire its alerts,
// hide its failures, nor show on its panels.
import { CATALOGUE, prometheusName } from '../../libs/telemetry/dist/index.js';

/** The labels that the rules and dashboards of plain files select by; the chart puts those of its release in their place. */
export const SERIES_LABELS = { release: 'svc' };

export const matchersOf = (labels) =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',');

const SUFFIXES = { histogram: ['_bucket', '_count', '_sum'] };
/** Every series by its name in Prometheus, with the metric that it is of; those of Prometheus itself have none. */
const SERIES = new Map([
  ['up', undefined],
  ...CATALOGUE.flatMap((metric) =>
    (SUFFIXES[metric.kind] ?? ['']).map((suffix) => [`${prometheusName(metric)}${suffix}`, metric]),
  ),
]);
const RECORDED = /^slo:/;
const WORDS = new Set('and or unless bool offset by on ignoring group_left sum min max count'.split(' '));

/** Strings, ranges and lists of labels, which stay as they are; or a name with its selector. */
const TOKEN =
  /"[^"]*"|\[[^\]]*\]|\b(?:by|on|ignoring|group_left) ?\([^)]*\)|(?<![\w.])(?<name>[a-z_][\w:]*)(?<selector>\{(?:[^"}]|"[^"]*")*\})?(?<call> ?\()?/gi;

/**
 * Adds matchers to every selector of a query. `matchers` gets the metric of the series, undefined where the catalogue does
 * not have it. Throws for a name that is neither a series nor a word of PromQL, so that none goes without.
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

/** A query as the plain files have it. */
export const scopedToRelease = (query) => scoped(query, () => matchersOf(SERIES_LABELS));
