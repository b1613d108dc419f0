import { type EventDefinition, eventText } from '@svc/contracts/messages';
import { currentStep } from '@svc/telemetry';
import type { Database } from '@svc/storage';

/** An event waiting in the outbox. */
export interface OutboxEvent {
  readonly id: bigint;
  readonly topic: string;
  readonly key: string;
  readonly payload: string;
  /** The step that added it, if its trace is recorded. */
  readonly traceparent: string | null;
}

/** Runs a statement in the caller's transaction. */
export type RunStatement = (sql: string, values: readonly (string | null)[]) => PromiseLike<unknown>;

const listeners = new Set<() => void>();

/** Calls back for each event that this process adds, before its commit. Returns what ends that. */
export function onAdded(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Adds an event to the outbox in the transaction of `run`. After the commit, it is published to the log. */
export async function addToOutbox<Payload>(
  run: RunStatement,
  event: EventDefinition<Payload>,
  payload: Payload,
): Promise<void> {
  const step = currentStep();
  const traceparent = step?.isSampled ? step.traceparent : null;
  const values = [event.topic, event.key(payload), eventText(event, payload), traceparent];
  await run('INSERT INTO events.outbox (topic, key, payload, traceparent) VALUES ($1, $2, $3, $4)', values);
  for (const listener of listeners) listener();
}

/**
 * Passes the oldest events to `publish`, and deletes them once it has returned. One process at a time does
 * this, which keeps the order of each key. Returns their number; `undefined` if another process is doing it.
 */
export async function emptyOutbox(
  database: Database,
  max: number,
  publish: (events: readonly OutboxEvent[]) => Promise<void>,
): Promise<number | undefined> {
  // It is usually empty, and one statement is enough to see that.
  if ((await database.query('SELECT 1 FROM events.outbox LIMIT 1')).length === 0) return 0;
  return database.transaction(async (client) => {
    const lock = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('events.outbox', 0)) AS taken`,
    );
    if (lock.rows[0]?.taken !== true) return undefined;
    const { rows } = await client.query<OutboxEvent>(
      'SELECT id, topic, key, payload, traceparent FROM events.outbox ORDER BY id LIMIT $1',
      [max],
    );
    if (rows.length === 0) return 0;
    await publish(rows);
    await client.query('DELETE FROM events.outbox WHERE id = ANY ($1::bigint[])', [rows.map(({ id }) => id)]);
    return rows.length;
  });
}
