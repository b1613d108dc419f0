import { type EventDefinition, eventText } from '@svc/contracts/messages';
import type { DeliveredEvent } from './on-events.js';

/** An event as stored in the log. */
export interface LoggedEvent {
  readonly id: bigint;
  readonly key: string;
  /** JSON; empty if `original` has the value. */
  readonly payload: string;
  /** When it was stored, as Unix time. */
  readonly atMs: number;
  /** The step that published it, if its trace is recorded. */
  readonly traceparent?: string | null;
  /** The value that the payload was made from, and as which event, if this process published it. */
  readonly original?: EventDefinition | undefined;
  readonly value?: unknown;
}

/**
 * Parses rows of the log into events, and separates those that can't be read. What was published as this very
 * event has its type already.
 */
export function parseEvents(
  rows: readonly LoggedEvent[],
  event: Pick<EventDefinition, 'payload'>,
): { events: DeliveredEvent<unknown>[]; unreadable: LoggedEvent[] } {
  const events: DeliveredEvent<unknown>[] = [];
  const unreadable: LoggedEvent[] = [];
  for (const row of rows) {
    const { id, key, original, value } = row;
    if (original === event) {
      events.push({ id, key, payload: value });
      continue;
    }
    const payload = original ? eventText(original, value) : row.payload;
    const parsed = event.payload.safeParse(parseJson(payload));
    if (parsed.success) events.push({ id, key, payload: parsed.data });
    else unreadable.push(original ? { ...row, payload } : row);
  }
  return { events, unreadable };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The topic for a topic's unreadable events. */
export const deadTopic = (topic: string): string => `${topic}.dead`;
