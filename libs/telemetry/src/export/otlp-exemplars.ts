import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { Exemplar } from '../metrics/instruments.js';
import type { PointWithExemplars } from './otlp-metrics.js';

/**
 * The field numbers on the path from a request to the points of histograms: `resource_metrics`,
 * `scope_metrics`, `metrics`, `histogram`, `data_points`.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/metrics/v1/metrics.proto
 */
const TO_POINTS: readonly number[] = [1, 2, 2, 9, 1];
/** `exemplars` of a histogram's point. */
const EXEMPLARS = 8;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

type Serialize = (metrics: ResourceMetrics) => Uint8Array | undefined;

let areAdded = false;

/**
 * Adds the exemplars of histograms to all metrics sent. OpenTelemetry's JavaScript serializers, which the
 * exporters of every protocol share, omit them.
 */
export function addExemplars(): void {
  if (areAdded) return;
  areAdded = true;
  extend(ProtobufMetricsSerializer, (message, exemplars) => {
    const points = exemplars.values();
    const next = (): Buffer => Buffer.concat((points.next().value ?? []).map(fieldOfExemplar));
    return withExtra(Buffer.from(message.buffer, message.byteOffset, message.byteLength), TO_POINTS, next);
  });
  extend(JsonMetricsSerializer, (message, exemplars) => {
    const request = JSON.parse(Buffer.from(message).toString()) as JsonRequest;
    pointsOf(request).forEach((point, index) => {
      point.exemplars = (exemplars[index] ?? []).map(jsonOfExemplar);
    });
    return Buffer.from(JSON.stringify(request));
  });
}

function extend(
  serializer: { serializeRequest: Serialize },
  add: (message: Uint8Array, exemplars: readonly (readonly Exemplar[])[]) => Uint8Array,
): void {
  const serialize = serializer.serializeRequest.bind(serializer);
  const extended: Serialize = (metrics) => {
    const message = serialize(metrics);
    const byPoint = exemplarsOf(metrics);
    const areNone = byPoint.every((exemplars) => exemplars.length === 0);
    return message && !areNone ? add(message, byPoint) : message;
  };
  serializer.serializeRequest = extended;
}

interface JsonRequest {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly histogram?: { readonly dataPoints: { exemplars?: object[] }[] };
      }[];
    }[];
  }[];
}

const pointsOf = ({ resourceMetrics }: JsonRequest) =>
  resourceMetrics
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ histogram }) => histogram?.dataPoints ?? []);

const jsonOfExemplar = ({ value, atMs, spanId, traceId }: Exemplar): object => ({
  timeUnixNano: String(BigInt(atMs) * 1_000_000n),
  asDouble: value,
  spanId,
  traceId,
});

/** The exemplars of each histogram's point, in the order of the message. */
const exemplarsOf = ({ scopeMetrics }: ResourceMetrics): (readonly Exemplar[])[] =>
  scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ dataPoints }) =>
      (dataPoints as readonly PointWithExemplars[]).flatMap(({ exemplars }) =>
        exemplars ? [exemplars] : [],
      ),
    ),
  );

/** Appends fields to each message at the end of the path. */
function withExtra(message: Buffer, [number, ...path]: readonly number[], next: () => Buffer): Buffer {
  if (number === undefined) return Buffer.concat([message, next()]);
  const parts: Buffer[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const field = { number: tag.value >>> 3, wire: tag.value & 7 };
    const { start, end } = contentOf(message, { at: tag.end, wire: field.wire });
    const isOnPath = field.number === number && field.wire === WIRE.bytes;
    parts.push(
      isOnPath
        ? bytesField(number, withExtra(message.subarray(start, end), path, next))
        : message.subarray(at, end),
    );
    at = end;
  }
  return Buffer.concat(parts);
}

function contentOf(
  message: Buffer,
  { at, wire }: { at: number; wire: number },
): { start: number; end: number } {
  if (wire === WIRE.bytes) {
    const length = readVarint(message, at);
    return { start: length.end, end: length.end + length.value };
  }
  if (wire === WIRE.varint) return { start: at, end: readVarint(message, at).end };
  if (wire === WIRE.fixed64) return { start: at, end: at + 8 };
  if (wire === WIRE.fixed32) return { start: at, end: at + 4 };
  throw new Error(`protobuf has no wire type ${wire}`);
}

function readVarint(message: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let at = from, scale = 1; at < message.length; at += 1, scale *= 128) {
    const byte = message.readUInt8(at);
    value += (byte & 127) * scale;
    if (byte < 128) return { value, end: at + 1 };
  }
  throw new Error('a number of the message has no end');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

const bytesField = (number: number, content: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + WIRE.bytes), varint(content.length), content]);

/** `time_unix_nano`, `as_double`, `span_id` and `trace_id`. */
function fieldOfExemplar({ value, atMs, spanId, traceId }: Exemplar): Buffer {
  const numbers = Buffer.alloc(18);
  numbers.writeUInt8(2 * 8 + WIRE.fixed64, 0);
  numbers.writeBigUInt64LE(BigInt(atMs) * 1_000_000n, 1);
  numbers.writeUInt8(3 * 8 + WIRE.fixed64, 9);
  numbers.writeDoubleLE(value, 10);
  const ids = [bytesField(4, Buffer.from(spanId, 'hex')), bytesField(5, Buffer.from(traceId, 'hex'))];
  return bytesField(EXEMPLARS, Buffer.concat([numbers, ...ids]));
}
