import { OTLPLogExporter as LogsByGrpc } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as LogsByJson } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as LogsByProtobuf } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as MetricsByGrpc } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as MetricsByJson } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as MetricsByProtobuf } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as TracesByGrpc } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as TracesByJson } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as TracesByProtobuf } from '@opentelemetry/exporter-trace-otlp-proto';
import type { OtelConfig, Signal } from '../config/otel.config.js';

/** The SDK's exporters, which read everything else about a signal from the environment. */
export const EXPORTERS = {
  TRACES: { grpc: TracesByGrpc, 'http/protobuf': TracesByProtobuf, 'http/json': TracesByJson },
  METRICS: { grpc: MetricsByGrpc, 'http/protobuf': MetricsByProtobuf, 'http/json': MetricsByJson },
  LOGS: { grpc: LogsByGrpc, 'http/protobuf': LogsByProtobuf, 'http/json': LogsByJson },
};

export const protocolOf = (config: OtelConfig, signal: Signal) =>
  config[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? config.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
