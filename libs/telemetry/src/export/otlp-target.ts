import type { Resource } from '@opentelemetry/resources';
import type { TelemetryConfig } from '../telemetry.config.js';
import { pairsOf } from './pairs.js';

/** The end of a process waits no longer for what could not be sent. */
const STOP_MS = 2_000;

/** Where a signal is sent by OTLP. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
}

/** What is sent, and by whom: the same for every signal. */
export interface PushOptions {
  readonly config: TelemetryConfig;
  readonly version: string;
  readonly resource: Resource;
}

/** What sends a signal until it is stopped. */
export interface Push {
  /** Sends what has not been sent yet, for at most 2 s. */
  stop(): Promise<void>;
}

/** Where a signal is sent; nothing where no endpoint is set. One of its own stands as it is, that of all gets its path. */
export function targetOf(
  config: TelemetryConfig,
  signal: 'LOGS' | 'METRICS' | 'TRACES',
): OtlpTarget | undefined {
  if (config.OTEL_SDK_DISABLED === 'true') return undefined;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all } = config;
  const own = config[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const url = own ?? (all === undefined ? undefined : `${all.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`);
  if (url === undefined) return undefined;
  return {
    url,
    headers: pairsOf(config.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
  };
}

/** What nobody receives is lost, and no reason to stay. */
export async function stopWithin(stopping: Promise<void>): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
  await Promise.race([stopping.catch(() => undefined), late]);
}
