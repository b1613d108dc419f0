import type { Exemplar } from '../metrics/instruments.js';
import type { Metric } from '../metrics/metrics.js';
import type { CollectionResult, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';

type Time = [seconds: number, nanos: number];

const time = (ms: number): Time => [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];

/** The labels that have a value; Prometheus, too, treats an empty label as absent. */
const attributesOf = ({ descriptor: { labels, constants } }: Metric, values: readonly string[]) => ({
  ...constants,
  ...Object.fromEntries(
    labels.flatMap((label, index) => (values[index] ? [[label, values[index]] as const] : [])),
  ),
});

/** A point with the exemplars of its buckets, for which OpenTelemetry's types have no member. */
export interface PointWithExemplars {
  readonly exemplars?: readonly Exemplar[];
}

/** Provides the metrics to OpenTelemetry's reader, which sends them. */
export class CellProducer implements MetricProducer {
  private readonly startTime = time(Date.now());

  constructor(
    private readonly metrics: readonly Metric[],
    private readonly scope: { readonly name: string; readonly version: string; readonly schemaUrl: string },
  ) {}

  collect(): Promise<CollectionResult> {
    const endTime = time(Date.now());
    const metrics = this.metrics
      .map((metric) => this.dataOf(metric, endTime))
      .filter(({ dataPoints }) => dataPoints.length > 0);
    // The reader adds the resource.
    const resource = undefined as never;
    return Promise.resolve({
      errors: [],
      resourceMetrics: { resource, scopeMetrics: [{ scope: this.scope, metrics }] },
    });
  }

  private dataOf(metric: Metric, endTime: Time): MetricData {
    const { name, unit, help, addsUp } = metric.descriptor;
    const common = {
      descriptor: { name, unit, description: help, valueType: 1 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    const point = (values: readonly string[]) => ({
      startTime: this.startTime,
      endTime,
      attributes: attributesOf(metric, values),
    });
    if (metric.kind === 'histogram')
      return {
        ...common,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: metric.points().map(({ values, instrument }) => ({
          ...point(values),
          exemplars: [...instrument.exemplars.values()],
          value: {
            buckets: { boundaries: [...metric.boundaries], counts: [...instrument.counts] },
            sum: instrument.sum,
            count: instrument.count,
          },
        })),
      };
    const dataPoints = metric.points().map(({ values, value }) => ({ ...point(values), value }));
    const isMonotonic = metric.kind === 'counter';
    return isMonotonic || addsUp === true
      ? { ...common, dataPointType: DataPointType.SUM, isMonotonic, dataPoints }
      : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
  }
}
