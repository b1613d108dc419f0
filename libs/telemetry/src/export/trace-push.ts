import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { untraced } from '../traces/trace.js';
import { tracing } from '../traces/tracing.js';
import { type OtlpTarget, type Push, type PushOptions, stopWithin } from './otlp-target.js';
import { spanOf } from './spans.js';

/** Spans waiting to be sent; further ones are dropped. */
const QUEUE = 4_096;
const BATCH = 512;

/** Records traces from now on and sends those that are kept by OTLP, in batches. */
export function pushTraces(target: OtlpTarget, { config, version, resource }: PushOptions): Push {
  const { url, headers, timeoutMs } = target;
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs }),
    maxQueueSize: QUEUE,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: config.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMillis: timeoutMs,
  });
  const common = { resource, instrumentationScope: { name: '@svc/telemetry', version } };
  const settings = {
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    slowMs: config.SVC_TRACES_SLOW_MS,
    keptPerSecond: config.SVC_TRACES_KEPT_PER_SECOND,
    continuesClients: config.SVC_TRACES_OF_CLIENTS === 'continue',
    sentToBackends: config.SVC_TRACES_TO_BACKENDS === 'true',
  };
  // The timer is started by the first span of a batch, and must not belong to its trace.
  const take = (step: Parameters<typeof spanOf>[0]): void =>
    untraced(() => processor.onEnd(spanOf(step, common)));
  const end = tracing.record(settings, { take });
  return {
    stop: () => {
      end();
      return stopWithin(processor.shutdown());
    },
  };
}
