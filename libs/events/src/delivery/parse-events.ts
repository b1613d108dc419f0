import type { EventDefinition } from '@svc/contracts/messages';
import type { DeliveredEvent } from './on-events.js';

/** An event as stored in the log. */
export interface LoggedEvent {
  readonly id: bigint;
  readonly key: string;
  readonly payload: string;
  /** When it was stored, as Unix time. */
  readonly atMs: number;
  /** The step that published it, if its trace is recorded. */
  readonly traceparent?: string | null;
}

/** Parses rows of the log into events, and separates those that can't be read. */
export function parseEvents(
  rows: readonly LoggedEvent[],
  { payload }: Pick<EventDefinition, 'payload'>,
): { events: DeliveredEvent<unknown>[]; unreadable: LoggedEvent[] } {
  const events: DeliveredEvent<unknown>[] = [];
  const unreadable: LoggedEvent[] = [];
  for (const row of rows) {
    const parsed = payload.safeParse(parseJson(row.payload));
    if (parsed.success) events.push({ id: row.id, key: row.key, payload: parsed.data });
    else unreadable.push(row);
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
