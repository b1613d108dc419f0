import type { EventDefinition } from '@svc/contracts';
import type { DeliveredEvent } from './on-events.js';
import type { LoggedEvent } from './postgres-events.store.js';

/** Rows of the log as events, apart from those that can't be read. */
export function parseEvents(
  rows: readonly LoggedEvent[],
  { payload }: EventDefinition,
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
