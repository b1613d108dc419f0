import type { Exemplar } from '../metrics/instruments.js';
import type { Counter, Gauge, Histogram, Metric } from '../metrics/metrics.js';

/** Metrics for a scraper. */
export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

const PROMETHEUS = 'text/plain';
const OPEN_METRICS = 'application/openmetrics-text';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

const escape = (text: string): string => text.replaceAll(/[\\"\n]/g, (char) => ESCAPES[char] ?? char);

/**
 * The metrics in the format that a scraper's `Accept` prefers: Prometheus's own, or OpenMetrics, which
 * includes exemplars (https://prometheus.io/docs/specs/om/open_metrics_spec/). Names and labels are the same
 * in both.
 */
export function metricsText(metrics: readonly Metric[], accept = ''): MetricsText {
  if (quality(accept, OPEN_METRICS) > quality(accept, PROMETHEUS))
    return {
      contentType: `${OPEN_METRICS}; version=1.0.0; charset=utf-8`,
      text: `${textOf(metrics, true)}# EOF\n`,
    };
  return { contentType: `${PROMETHEUS}; version=0.0.4; charset=utf-8`, text: textOf(metrics, false) };
}

/** The weight of a media type in an `Accept` header; 0 if it is not listed. */
function quality(accept: string, type: string): number {
  const weights = accept.split(',').flatMap((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (name !== type) return [];
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    return Number.isFinite(weight) ? [weight] : [];
  });
  return Math.max(0, ...weights);
}

/** Metrics without values are left out. */
function textOf(metrics: readonly Metric[], isOpenMetrics: boolean): string {
  let text = '';
  for (const metric of metrics) {
    const lines = metric.kind === 'histogram' ? histogramLines(metric, isOpenMetrics) : numberLines(metric);
    if (lines === '') continue;
    const series = prometheusName(metric);
    // OpenMetrics describes a counter by its name without the suffix of its series.
    const name = isOpenMetrics && metric.kind === 'counter' ? series.replace(/_total$/, '') : series;
    text += `# HELP ${name} ${escape(metric.descriptor.help)}\n# TYPE ${name} ${metric.kind}\n${lines}`;
  }
  return text;
}

function numberLines(metric: Counter | Gauge): string {
  const name = prometheusName(metric);
  const labels = labelsOf(metric);
  return metric
    .points()
    .map(({ values, value }) => `${name}${braced(labels(values))} ${value}\n`)
    .join('');
}

function histogramLines(metric: Histogram, withExemplars: boolean): string {
  const name = prometheusName(metric);
  const labels = labelsOf(metric);
  let text = '';
  for (const { values, instrument } of metric.points()) {
    const own = labels(values);
    const head = own === '' ? '' : `${own},`;
    let below = 0;
    instrument.counts.forEach((count, index) => {
      below += count;
      const exemplar = withExemplars ? exemplarText(instrument.exemplars.get(index)) : '';
      text += `${name}_bucket{${head}le="${metric.boundaries[index] ?? '+Inf'}"} ${below}${exemplar}\n`;
    });
    text += `${name}_sum${braced(own)} ${instrument.sum}\n${name}_count${braced(own)} ${instrument.count}\n`;
  }
  return text;
}

const exemplarText = (exemplar: Exemplar | undefined): string =>
  exemplar
    ? ` # {trace_id="${exemplar.traceId}",span_id="${exemplar.spanId}"} ${exemplar.value} ${exemplar.atMs / 1_000}`
    : '';

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

function labelsOf({ descriptor: { labels, constants = {} } }: Metric): (values: readonly string[]) => string {
  const names = labels.map(prometheusLabel);
  const fixed = Object.entries(constants).map(
    ([name, value]) => `${prometheusLabel(name)}="${escape(value)}"`,
  );
  return (values) =>
    [...names.map((name, index) => `${name}="${escape(values[index] ?? '')}"`), ...fixed].join(',');
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/** A valid Prometheus name. */
export const prometheusLabel = (name: string): string => name.replaceAll(/\W/g, '_');

/**
 * The name that Prometheus's OTLP receiver would give a metric, so that both ways lead to the same series.
 */
export function prometheusName({ kind, descriptor: { name, unit } }: Metric): string {
  const base = prometheusLabel(name);
  const suffix = UNITS[unit] ?? (unit === '1' && kind === 'gauge' ? '_ratio' : '');
  return `${base}${base.endsWith(suffix) ? '' : suffix}${kind === 'counter' ? '_total' : ''}`;
}
