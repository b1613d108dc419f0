import { z } from 'zod';

const endpoint = z.url({ protocol: /^https?$/ }).optional();

const ms = (most: number) => z.coerce.number().int().min(1).max(most);

/** Comma-separated `name=value` pairs, in OpenTelemetry's format for headers and attributes. */
const pairs = z
  .string()
  .regex(/^([^=,]+=[^,]*)(,[^=,]+=[^,]*)*$/, 'is not name=value, by commas')
  .optional();

/** The telemetry settings: OpenTelemetry's under their own names, and ours. */
export const telemetryConfig = (service: string) => ({
  OTEL_SERVICE_NAME: z.string().default(service).describe('What telemetry calls this process'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.describe('What else telemetry says of this process'),
  OTEL_SDK_DISABLED: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Sends nothing by OTLP, whatever endpoints are set'),
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.describe('Where telemetry is sent by OTLP; without it none is sent'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint.describe('Where metrics are sent, in place of that'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint.describe('Where traces are sent, in place of that'),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: endpoint.describe('Where logs are sent, in place of that'),
  OTEL_LOGS_EXPORTER: z
    .enum(['otlp', 'none'])
    .default('none')
    .describe('Whether the log is sent by OTLP as well; it is on stdout in any case'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.describe('Headers of what is sent by OTLP'),
  OTEL_EXPORTER_OTLP_TIMEOUT: ms(60_000).default(10_000).describe('How long one batch may take to send'),
  OTEL_METRIC_EXPORT_INTERVAL: ms(3_600_000).default(60_000).describe('How often metrics are sent'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('The share of requests whose traces are sent; those that failed or were slow are sent as well'),
  OTEL_BSP_SCHEDULE_DELAY: ms(60_000).default(5_000).describe('How often traces are sent'),
  SVC_TRACES_SLOW_MS: ms(86_400_000)
    .default(10_000)
    .describe('A request is slow whose first chunk, or whole answer where it is not streamed, takes longer'),
  SVC_TRACES_KEPT_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(20)
    .describe(
      'Of the requests that failed, and of those that were slow, the most whose traces are sent in a second',
    ),
  SVC_TRACES_OF_CLIENTS: z
    .enum(['link', 'continue'])
    .default('link')
    .describe(
      'What a `traceparent` of a client does: `link` names it in a trace of our own, `continue` makes ours a part of its trace and samples as it says',
    ),
  SVC_TRACES_TO_BACKENDS: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether backends are sent `traceparent`'),
  SVC_METRICS_TOKEN: z
    .string()
    .min(32)
    .optional()
    .describe('A secret that `GET /metrics` takes and nothing else does'),
  SVC_METRICS_TOKEN_SECOND: z
    .string()
    .min(32)
    .optional()
    .describe(
      'A second value that is accepted like SVC_METRICS_TOKEN, while that is rotated (docs/rotation.md)',
    ),
});

export type TelemetryConfig = z.infer<z.ZodObject<ReturnType<typeof telemetryConfig>>>;
