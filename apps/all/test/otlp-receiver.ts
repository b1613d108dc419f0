import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import {
  Server as GrpcServer,
  type Metadata,
  type MethodDefinition,
  ServerCredentials,
  type sendUnaryData,
} from '@grpc/grpc-js';
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

/** A request as it arrived. */
interface ReceivedRequest {
  readonly signal: Signal;
  readonly protocol: 'grpc' | 'http/protobuf' | 'http/json';
  readonly headers: Readonly<Record<string, unknown>>;
}

const SIGNALS = ['Trace', 'Metrics', 'Logs'] as const;
type Signal = (typeof SIGNALS)[number];

const signalOf = (path = ''): Signal | undefined =>
  SIGNALS.find((signal) => path.startsWith(`/v1/${signal.toLowerCase()}`));

/** Receives OTLP over HTTP, as protobuf or JSON, and over gRPC, and parses it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: ReceivedMetric[] = [];
  readonly lines: ReceivedLine[] = [];
  readonly requests: ReceivedRequest[] = [];
  /** The schemas that the senders name. */
  readonly schemas = new Set<string>();
  /** Everything received, of every signal, to search for texts that must not be there. */
  readonly bytes: Buffer[] = [];
  private readonly grpc = new GrpcServer();
  private readonly http = createServer((request, response) => {
    const { headers } = request;
    const isJson = headers['content-type'] === 'application/json';
    void buffer(request).then((body) => {
      const signal = signalOf(request.url);
      const message = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      if (signal) this.take({ signal, protocol: isJson ? 'http/json' : 'http/protobuf', headers }, message);
      response.setHeader('content-type', isJson ? 'application/json' : 'application/x-protobuf');
      response.end(isJson ? '{}' : '');
    });
  });

  private constructor(private readonly definitions: protobuf.Root) {}

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(await protobuf.load(DEFINITIONS));
    await receiver.listen();
    return receiver;
  }

  private grpcPort = 0;

  private async listen(): Promise<void> {
    for (const signal of SIGNALS) this.serveGrpc(signal);
    this.http.listen(0, '127.0.0.1');
    const credentials = ServerCredentials.createInsecure();
    this.grpcPort = await new Promise((resolve, reject) => {
      this.grpc.bindAsync('127.0.0.1:0', credentials, (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    if (!this.http.listening) await once(this.http, 'listening');
  }

  private serveGrpc(signal: Signal): void {
    const Export: MethodDefinition<Buffer, Buffer> = {
      path: `/opentelemetry.proto.collector.${signal.toLowerCase()}.v1.${signal}Service/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (message) => message,
      requestDeserialize: (message) => message,
      responseSerialize: (message) => message,
      responseDeserialize: (message) => message,
    };
    this.grpc.addService(
      { Export },
      {
        Export: (call: { request: Buffer; metadata: Metadata }, done: sendUnaryData<Buffer>) => {
          this.take({ signal, protocol: 'grpc', headers: call.metadata.getMap() }, call.request);
          done(null, Buffer.alloc(0));
        },
      },
    );
  }

  private take(request: ReceivedRequest, body: Buffer): void {
    const { signal, protocol } = request;
    this.requests.push(request);
    this.bytes.push(body);
    const type = this.definitions.lookupType(`otlp.Export${signal}ServiceRequest`);
    const message =
      protocol === 'http/json'
        ? type.fromObject(JSON.parse(body.toString(), bytesOfJson) as object)
        : type.decode(body);
    const read: unknown = type.toObject(message, { bytes: String, longs: String, defaults: true });
    for (const [, url = ''] of JSON.stringify(read).matchAll(/"schemaUrl":"([^"]+)"/g)) this.schemas.add(url);
    if (signal === 'Trace') this.spans.push(...spansOf(read as TracesOnWire));
    else if (signal === 'Metrics') this.metrics.push(...metricsOf(read as MetricsOnWire));
    else this.lines.push(...linesOf(read as LogsOnWire));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get grpcUrl(): string {
    return `http://127.0.0.1:${this.grpcPort}`;
  }

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

  /** The spans of a trace. */
  trace(id: string): ReceivedSpan[] {
    return this.spans.filter(({ traceId }) => traceId === id);
  }

  close(): void {
    this.http.close();
    this.http.closeAllConnections();
    this.grpc.forceShutdown();
  }
}

/** OTLP's JSON has ids as hex digits; protobuf's has bytes as base64. */
const bytesOfJson = (key: string, value: unknown): unknown =>
  /^(?:trace|span|parentSpan)Id$/.test(key) ? Buffer.from(String(value), 'hex').toString('base64') : value;

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
