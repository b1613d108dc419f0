import { exporting } from '../instruments/exporting.js';
import type { Signal } from '../config/otel.config.js';
import type { TelemetryLog } from '../config/telemetry-options.js';

interface Result {
  readonly code: number;
  readonly error?: Error;
}

interface Exporter<Items> {
  export(items: Items, done: (result: Result) => void): void;
}

/** Counts the failed exports of a signal, and logs when they begin and when they are over. */
export function watched<Items, Watched extends Exporter<Items>>(
  exporter: Watched & Exporter<Items>,
  signal: Signal,
  log: TelemetryLog,
): Watched {
  const name = signal.toLowerCase();
  let isFailing = false;
  const ended = ({ code, error }: Result): void => {
    const hasFailed = code !== 0;
    if (hasFailed) exporting.failures.add(1, name);
    if (hasFailed === isFailing) return;
    isFailing = hasFailed;
    if (hasFailed)
      log.warn({ signal: name, reason: reasonOf(error) }, 'the OTLP receiver takes no telemetry');
    else log.info({ signal: name }, 'the OTLP receiver takes telemetry again');
  };
  const send = exporter.export.bind(exporter);
  const watched: typeof send = (items, done) =>
    send(items, (result) => {
      ended(result);
      done(result);
    });
  exporter.export = watched;
  return exporter;
}

/** An attempt at several addresses fails with an error that has no message. */
function reasonOf(error: (Error & { readonly code?: string }) | undefined): string {
  return error?.message || (error?.code ?? 'unknown');
}
