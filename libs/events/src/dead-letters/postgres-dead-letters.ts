import { createPool } from '@svc/storage';
import { type LoggedEvent, deadTopic } from '../delivery/parse-events.js';
import {
  BATCH,
  type DeadEvents,
  type DeadLetters,
  type ReplayableEvent,
  type Replayed,
  divide,
} from './dead-letters.js';

/** Dead events in the table of a single process. Moves each back to its topic, exactly once. */
export class PostgresDeadLetters implements DeadLetters {
  private readonly pool;

  constructor(url: string) {
    this.pool = createPool(url, { name: 'dead-letters', max: 1 });
  }

  async list(event: ReplayableEvent): Promise<DeadEvents> {
    const { rows } = await this.pool.query<LoggedEvent>(
      `SELECT id, key, payload, traceparent, (1000 * extract(epoch FROM at))::float8 AS "atMs"
       FROM events.log WHERE topic = $1 ORDER BY id`,
      [deadTopic(event.topic)],
    );
    return divide(rows, event);
  }

  async replay(event: ReplayableEvent): Promise<Replayed> {
    const { readable, unreadable, topic } = await this.list(event);
    for (let from = 0; from < readable.length; from += BATCH)
      await this.move(event.topic, readable.slice(from, from + BATCH));
    return { topic, published: readable.length, unreadable: unreadable.length };
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async move(topic: string, events: readonly LoggedEvent[]): Promise<void> {
    await this.pool.query(
      `WITH moved AS (DELETE FROM events.log WHERE id = ANY ($2::bigint[]) RETURNING id, key, payload)
       SELECT events.append(array_agg($1::text), array_agg(key ORDER BY id), array_agg(payload ORDER BY id)) FROM moved
       HAVING count(*) > 0`,
      [topic, events.map(({ id }) => id)],
    );
  }
}
