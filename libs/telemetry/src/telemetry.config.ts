import { z } from 'zod';

const endpoint = z.url({ protocol: /^https?$/ }).optional();

const ms = (most: number) => z.coerce.number().int().min(1).max(most);

/** Comma-separated `name=value` pairs, in OpenTelemetry's format for headers and attributes. */
const pairs = z
  .string()
  .regex(/^([^=,]+=[^,]*)(,[^=,]+=[^,]*)*$/, 'must be name=value pairs, separated by commas')
  .optional();

/** The telemetry settings: OpenTelemetry's under their own names, and ours. */
export const telemetryConfig = (service: string) => ({
  OTEL_SERVICE_NAME: z.string().default(service).describe('The name of this service in telemetry'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.describe('Further resource attributes, as `name=value` pairs'),
  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether to disable OTLP even if endpoints are set'),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.describe('The OTLP endpoint for telemetry; if unset, none is sent'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint.describe(
    'The endpoint for metrics, instead of OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint.describe(
    'The endpoint for traces, instead of OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: endpoint.describe(
    'The endpoint for logs, instead of OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  OTEL_LOGS_EXPORTER: z
    .enum(['otlp', 'none'])
    .default('none')
    .describe('Whether log lines are also sent by OTLP; they are always written to stdout'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.describe('Headers of OTLP requests, as `name=value` pairs'),
  OTEL_EXPORTER_OTLP_TIMEOUT: ms(60_000).default(10_000).describe('How long sending a batch may take'),
  OTEL_METRIC_EXPORT_INTERVAL: ms(3_600_000)
    .default(60_000)
    .describe('The interval at which metrics are sent'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe(
      'The fraction of requests whose traces are sent; failed and slow requests are sent in addition',
    ),
  OTEL_BSP_SCHEDULE_DELAY: ms(60_000).default(5_000).describe('The interval at which traces are sent'),
  SVC_TRACES_SLOW_MS: ms(86_400_000)
    .default(10_000)
    .describe(
      'A request is slow if its first chunk, or its whole response if not streamed, takes longer than this',
    ),
  SVC_TRACES_KEPT_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(20)
    .describe('The maximum number of traces sent per second for failed requests, and for slow requests'),
  SVC_TRACES_OF_CLIENTS: z
    .enum(['link', 'continue'])
    .default('link')
    .describe(
      "How to treat a client's `traceparent`: `link` starts a new trace with a link to it, `continue` continues it and respects its sampling flag",
    ),
  SVC_TRACES_TO_BACKENDS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether to send `traceparent` to backends'),
  SVC_METRICS_TOKEN: z
    .string()
    .min(32)
    .optional()
    .describe('A token that is accepted only by `GET /metrics`'),
  SVC_METRICS_TOKEN_SECOND: z
    .string()
    .min(32)
    .optional()
    .describe('A second accepted value of SVC_METRICS_TOKEN, for its rotation (docs/rotation.md)'),
});

export type TelemetryConfig = z.infer<z.ZodObject<ReturnType<typeof telemetryConfig>>>;
