import { newId } from '@svc/runtime';
import { readTraceparent, tracing } from '@svc/telemetry';
import type { LoggedEvent } from './parse-events.js';

/** The conventions set no limit; this one keeps a span small. */
const MOST_LINKS = 128;

export interface BatchSource {
  readonly system: 'kafka' | 'postgresql';
  readonly topic: string;
  readonly group: string;
}

/**
 * Handles a batch in a trace of its own, linked to the traces that its events came from. It is recorded if
 * one of those is, or if it fails or is slow.
 */
export function tracedBatch<T>(
  { system, topic, group }: BatchSource,
  events: readonly LoggedEvent[],
  handle: () => Promise<T>,
): Promise<T> {
  const links = events.flatMap(({ traceparent }) => readTraceparent(traceparent ?? undefined) ?? []);
  const trace = tracing.forMessages(`process ${topic}`, links.slice(0, MOST_LINKS), newId());
  if (trace.isRecorded)
    trace.root.set({
      'messaging.system': system,
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.consumer.group.name': group,
      'messaging.batch.message_count': events.length,
    });
  return tracing.run(trace, handle);
}
