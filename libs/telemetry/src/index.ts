export { BATCH, SECONDS } from './metrics/boundaries.js';
export { LabelNames } from './metrics/label-names.js';
export { OTHER } from './metrics/metric-series.js';
export type { Counter, Gauge, Histogram, Metric } from './metrics/metrics.js';
export { logLines } from './export/log-lines.js';
export { prometheusName } from './export/prometheus-text.js';
export { CATALOGUE, ROOMS } from './instruments/catalogue.js';
export { events } from './instruments/events.js';
export { genAi, inference } from './instruments/inference.js';
export { limits } from './instruments/limits.js';
export { money } from './instruments/money.js';
export { neighbours } from './instruments/neighbours.js';
export { batches } from './instruments/batches.js';
export { mediaJobs } from './instruments/media-jobs.js';
export { notices } from './instruments/notices.js';
export { operatorFiles } from './instruments/operator-files.js';
export { payments } from './instruments/payments.js';
export { requests } from './instruments/requests.js';
export { router } from './instruments/router.js';
export { runtime } from './instruments/runtime.js';
export { watchDisk } from './process/disk-readings.js';
export { type RunningTelemetry, scrapedMetrics, startTelemetry } from './telemetry.js';
export { type TelemetryConfig, telemetryConfig } from './config/telemetry.config.js';
export type { SpanAttributes } from './traces/attributes.js';
export { errorType, isFailure } from './traces/failures.js';
export { type RemoteSpan, readTraceparent } from './traces/trace-context.js';
export {
  SPAN_KIND,
  type Step,
  type Trace,
  beginStep,
  currentStep,
  inStep,
  traced,
  untraced,
} from './traces/trace.js';
export { tracing } from './traces/tracing.js';
