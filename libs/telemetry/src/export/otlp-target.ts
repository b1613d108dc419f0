import type { Resource } from '@opentelemetry/resources';
import type { TelemetryConfig } from '../telemetry.config.js';

/** How long the end of a process waits for unsent data. */
const STOP_MS = 2_000;

/** The OTLP endpoint of a signal. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
}

/** The data's source, the same for every signal. */
export interface PushOptions {
  readonly config: TelemetryConfig;
  readonly version: string;
  readonly resource: Resource;
}

/** Sends a signal until it is stopped. */
export interface Push {
  /** Sends what has not been sent yet, for at most 2 s. */
  stop(): Promise<void>;
}

/**
 * The endpoint of a signal; `undefined` if none is set. A signal's own endpoint is used as is, the common one
 * gets the signal's path.
 */
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

/** Data that can't be delivered is dropped, and does not delay the exit. */
export async function stopWithin(stopping: Promise<void>): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
  await Promise.race([stopping.catch(() => undefined), late]);
}

/** Comma-separated `name=value` pairs, percent-encoded, as in OpenTelemetry's variables. */
export function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
