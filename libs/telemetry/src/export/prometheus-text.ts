import type { Counter, Gauge, Histogram, Metric } from '../cells/metrics.js';
import { prometheusLabel, prometheusName } from './prometheus-names.js';

/** What `prometheusText` is. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

const escape = (text: string): string => text.replaceAll(/[\\"\n]/g, (char) => ESCAPES[char] ?? char);

/** The metrics as Prometheus reads them. Those that have no values are left out. */
export function prometheusText(metrics: readonly Metric[]): string {
  let text = '';
  for (const metric of metrics) {
    const lines = metric.kind === 'histogram' ? histogramLines(metric) : numberLines(metric);
    if (lines === '') continue;
    const name = prometheusName(metric);
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

function histogramLines(metric: Histogram): string {
  const name = prometheusName(metric);
  const labels = labelsOf(metric);
  let text = '';
  for (const { values, cell } of metric.points()) {
    const own = labels(values);
    const head = own === '' ? '' : `${own},`;
    let below = 0;
    cell.counts.forEach((count, index) => {
      below += count;
      text += `${name}_bucket{${head}le="${metric.boundaries[index] ?? '+Inf'}"} ${below}\n`;
    });
    text += `${name}_sum${braced(own)} ${cell.sum}\n${name}_count${braced(own)} ${cell.count}\n`;
  }
  return text;
}

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

function labelsOf({ descriptor }: Metric): (values: readonly string[]) => string {
  const names = descriptor.labels.map(prometheusLabel);
  return (values) => names.map((name, index) => `${name}="${escape(values[index] ?? '')}"`).join(',');
}
