import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const DEFINITIONS = fileURLToPath(new URL('otlp.proto', import.meta.url));

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, string | number | boolean>>;
}

interface SpanOnWire {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message: string } | null;
}

interface Sender {
  readonly resource: { readonly attributes: readonly KeyValue[] };
}

interface TracesOnWire {
  readonly resourceSpans: readonly (Sender & {
    readonly scopeSpans: readonly { readonly spans: readonly SpanOnWire[] }[];
  })[];
}

interface ExemplarOnWire {
  readonly timeUnixNano: string;
  readonly asDouble: number;
  readonly spanId: string;
  readonly traceId: string;
}

interface PointOnWire {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
  readonly exemplars?: readonly ExemplarOnWire[];
}

interface DataOnWire {
  readonly dataPoints: readonly PointOnWire[];
  readonly aggregationTemporality?: number;
  readonly isMonotonic?: boolean;
}

interface MetricOnWire {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: DataOnWire | null;
  readonly sum?: DataOnWire | null;
  readonly histogram?: DataOnWire | null;
}

interface MetricsOnWire {
  readonly resourceMetrics: readonly (Sender & {
    readonly scopeMetrics: readonly { readonly metrics: readonly MetricOnWire[] }[];
  })[];
}

interface RecordOnWire {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly attributes: readonly KeyValue[];
  readonly traceId: string;
}

interface LogsOnWire {
  readonly resourceLogs: readonly (Sender & {
    readonly scopeLogs: readonly { readonly logRecords: readonly RecordOnWire[] }[];
  })[];
}

/** A received span, with its ids as hex digits. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  /** OTLP's numbers: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly links: readonly string[];
  readonly error: string | undefined;
}

/** One metric of a process at one time. */
export interface ReceivedMetric {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly help: string;
  readonly unit: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** OTLP's numbers: 1 delta, 2 cumulative; a gauge has none. */
  readonly temporality: number | undefined;
  readonly isMonotonic: boolean | undefined;
  readonly points: readonly {
    readonly startMs: number;
    readonly atMs: number;
    readonly attributes: Readonly<Record<string, unknown>>;
    /** For a histogram, its count. */
    readonly value: number;
    readonly sum: number | undefined;
    readonly counts: readonly number[] | undefined;
    readonly boundaries: readonly number[] | undefined;
    readonly exemplars: readonly {
      readonly atMs: number;
      readonly value: number;
      readonly spanId: string;
      readonly traceId: string;
    }[];
  }[];
}

/** A log record. */
export interface ReceivedLine {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  readonly severity: string;
  readonly severityNumber: number;
  readonly body: unknown;
  readonly traceId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Receives OTLP over HTTP, as protobuf, and parses it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: ReceivedMetric[] = [];
  readonly lines: ReceivedLine[] = [];
  /** Everything received, of every signal, to search for texts that must not be there. */
  readonly bytes: Buffer[] = [];

  private constructor(
    readonly url: string,
    private readonly end: () => void,
  ) {}

  /** Settings with which a platform sends all of its traces, metrics and logs here, without much delay. */
  get settings(): Readonly<Record<string, string>> {
    return {
      SVC_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
      OTEL_LOGS_EXPORTER: 'otlp',
    };
  }

  static async start(): Promise<OtlpReceiver> {
    const definitions = await protobuf.load(DEFINITIONS);
    const read = (signal: string, body: Buffer): unknown => {
      const type = definitions.lookupType(`otlp.Export${signal}ServiceRequest`);
      return type.toObject(type.decode(body), { bytes: String, longs: String, defaults: true });
    };
    const readers: Readonly<Record<string, (body: Buffer) => void>> = {
      '/v1/traces': (body) => receiver.spans.push(...spansOf(read('Trace', body) as TracesOnWire)),
      '/v1/metrics': (body) => receiver.metrics.push(...metricsOf(read('Metrics', body) as MetricsOnWire)),
      '/v1/logs': (body) => receiver.lines.push(...linesOf(read('Logs', body) as LogsOnWire)),
    };
    const server = createServer((request, response) => {
      void buffer(request).then((body) => {
        receiver.bytes.push(body);
        readers[request.url ?? '']?.(body);
        response.setHeader('content-type', 'application/x-protobuf').end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const receiver = new OtlpReceiver(url, () => {
      server.close();
      server.closeAllConnections();
    });
    return receiver;
  }

  /** The spans of a trace. */
  trace(id: string): ReceivedSpan[] {
    return this.spans.filter(({ traceId }) => traceId === id);
  }

  close(): void {
    this.end();
  }
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

const valuesOf = (pairs: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));

function spansOf({ resourceSpans }: TracesOnWire): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: SpanOnWire): ReceivedSpan {
  const { status } = span;
  return {
    service,
    name: span.name,
    kind: span.kind,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentId: hex(span.parentSpanId),
    startMs: Number(span.startTimeUnixNano) / 1e6,
    endMs: Number(span.endTimeUnixNano) / 1e6,
    attributes: valuesOf(span.attributes),
    events: span.events.map(({ name }) => name),
    links: span.links.map(({ traceId, spanId }) => `${hex(traceId)} ${hex(spanId)}`),
    error: status?.code === 2 ? status.message : undefined,
  };
}

const msOf = (nanos: string): number => Number(nanos) / 1e6;

function metricsOf({ resourceMetrics }: MetricsOnWire): ReceivedMetric[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const sender = valuesOf(resource.attributes);
    return scopeMetrics.flatMap(({ metrics }) => metrics.map((metric) => receivedMetric(sender, metric)));
  });
}

function receivedMetric(resource: Record<string, unknown>, metric: MetricOnWire): ReceivedMetric {
  const { name, description: help, unit, gauge, sum, histogram } = metric;
  const data = gauge ?? sum ?? histogram;
  return {
    resource,
    name,
    help,
    unit,
    kind: gauge ? 'gauge' : sum ? 'counter' : 'histogram',
    temporality: data?.aggregationTemporality,
    isMonotonic: data?.isMonotonic,
    points: (data?.dataPoints ?? []).map((point) => ({
      startMs: msOf(point.startTimeUnixNano),
      atMs: msOf(point.timeUnixNano),
      attributes: valuesOf(point.attributes),
      value: Number(point.asDouble ?? point.count),
      sum: point.sum,
      counts: point.bucketCounts?.map(Number),
      boundaries: point.explicitBounds,
      exemplars: (point.exemplars ?? []).map(({ timeUnixNano, asDouble, spanId, traceId }) => ({
        atMs: msOf(timeUnixNano),
        value: asDouble,
        spanId: hex(spanId),
        traceId: hex(traceId),
      })),
    })),
  };
}

function linesOf({ resourceLogs }: LogsOnWire): ReceivedLine[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) => {
    const sender = valuesOf(resource.attributes);
    return scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((record) => ({
        resource: sender,
        atMs: msOf(record.timeUnixNano),
        severity: record.severityText,
        severityNumber: record.severityNumber,
        body: Object.values(record.body ?? {})[0],
        traceId: hex(record.traceId),
        attributes: valuesOf(record.attributes),
      })),
    );
  });
}
