import type { EventDefinition } from '@svc/contracts';
import type { DeliveredEvent } from './on-events.js';

/** An event as the log has it. */
export interface LoggedEvent {
  readonly id: bigint;
  readonly key: string;
  readonly payload: string;
  /** The step that published it, where its trace is recorded. */
  readonly traceparent?: string | null;
}

/** Rows of the log as events, apart from those that can't be read. */
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

/** Where a topic's events go that can't be read. */
export const deadTopic = (topic: string): string => `${topic}.dead`;
