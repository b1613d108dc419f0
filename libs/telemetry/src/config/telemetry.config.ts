import { z } from 'zod';
import { otelConfig } from './otel.config.js';

const ms = (most: number) => z.coerce.number().int().min(1).max(most);

/** The telemetry settings: OpenTelemetry's under their own names, and ours. */
export const telemetryConfig = (service: string) => ({
  ...otelConfig(service),
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
