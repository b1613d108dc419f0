import { textColumn } from '@svc/storage';
import type { Client, Pool } from 'pg';
import { type LoggedEvent, deadTopic } from '../delivery/parse-events.js';
import type { PublishBatch } from '../publishing/group-commit-log.js';

export interface ConsumerName {
  readonly group: string;
  readonly topic: string;
}

/** The ids of the first and the last event of a batch. */
export interface BatchIds {
  readonly firstId: bigint;
  readonly lastId: bigint;
}

/** Stores the batch in one statement, so in one transaction and one round trip. */
export async function appendBatch(pool: Pool, { events }: PublishBatch): Promise<BatchIds | undefined> {
  const { rows } = await pool.query<BatchIds>({
    name: 'events-append',
    text: `SELECT first_id AS "firstId", last_id AS "lastId"
           FROM events.append_numbered($1::text[], $2::text[], $3::text[], $4::text[])`,
    values: [
      textColumn(events, ({ topic }) => topic),
      textColumn(events, ({ key }) => key),
      textColumn(events, ({ payload }) => payload),
      events.some(({ traceparent }) => traceparent !== null)
        ? textColumn(events, ({ traceparent }) => traceparent)
        : null,
    ],
  });
  return rows[0];
}

/**
 * Makes this connection the only consumer of a topic for a group, until it closes. Returns the group's last
 * id, or undefined if another connection is the consumer.
 */
export async function claimConsumer(
  client: Client,
  { group, topic }: ConsumerName,
): Promise<bigint | undefined> {
  const claim = await client.query<{ claimed: boolean }>(
    `SELECT pg_try_advisory_lock(hashtextextended('events.consumer ' || $1 || ' ' || $2, 0)) AS claimed`,
    [group, topic],
  );
  if (claim.rows[0]?.claimed !== true) return undefined;
  await client.query(
    'INSERT INTO events.offsets ("group", topic, last_id) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING',
    [group, topic],
  );
  return readOffset(client, { group, topic });
}

export async function readOffset(client: Client, { group, topic }: ConsumerName): Promise<bigint> {
  const { rows } = await client.query<{ last_id: bigint }>(
    'SELECT last_id FROM events.offsets WHERE "group" = $1 AND topic = $2',
    [group, topic],
  );
  return rows[0]?.last_id ?? 0n;
}

/**
 * The id of the topic's newest event, 0 if the topic is empty. Waits for the current writer first: it may
 * be the last statement of a process that was killed.
 */
export async function readNewestId(client: Client, topic: string): Promise<bigint> {
  await client.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('events.log', 0))`);
  const { rows } = await client.query<{ id: bigint }>(
    'SELECT id FROM events.log WHERE topic = $1 ORDER BY id DESC LIMIT 1',
    [topic],
  );
  return rows[0]?.id ?? 0n;
}

export async function readEvents(
  client: Client,
  { topic, after, max }: { topic: string; after: bigint; max: number },
): Promise<LoggedEvent[]> {
  const { rows } = await client.query<LoggedEvent>({
    name: 'events-read',
    text: `SELECT id, key, payload, traceparent, (1000 * extract(epoch FROM at))::float8 AS "atMs"
           FROM events.log WHERE topic = $1 AND id > $2 ORDER BY id LIMIT $3`,
    values: [topic, after, max],
  });
  return rows;
}

/** Advances the group's offset, never back, and moves unreadable events aside in the same transaction. */
export async function commitOffset(
  client: Client,
  { group, topic }: ConsumerName,
  { lastId, dead }: { lastId: bigint; dead: readonly LoggedEvent[] },
): Promise<void> {
  const move = `INSERT INTO events.offsets AS o ("group", topic, last_id) VALUES ($1, $2, $3)
    ON CONFLICT ("group", topic) DO UPDATE SET last_id = greatest(o.last_id, excluded.last_id), updated_at = now()`;
  if (dead.length === 0) {
    await client.query({ name: 'events-commit', text: move, values: [group, topic, lastId] });
    return;
  }
  await client.query(
    `WITH moved AS (${move} RETURNING 1) SELECT events.append($4::text[], $5::text[], $6::text[]) FROM moved`,
    [
      group,
      topic,
      lastId,
      dead.map(() => deadTopic(topic)),
      dead.map(({ key }) => key),
      dead.map(({ payload }) => payload),
    ],
  );
}

/** Skips from topic to topic through the index, since there are few topics and many events. */
export async function readTopics(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ topic: string }>(
    `WITH RECURSIVE topics AS (
       (SELECT topic FROM events.log ORDER BY topic LIMIT 1)
       UNION ALL
       SELECT (SELECT l.topic FROM events.log l WHERE l.topic > t.topic ORDER BY l.topic LIMIT 1)
       FROM topics t WHERE t.topic IS NOT NULL
     )
     SELECT topic FROM topics WHERE topic IS NOT NULL`,
  );
  return rows.map(({ topic }) => topic);
}

/**
 * Removes up to `max` of a topic's oldest events that are older than `days` and handled by every group.
 * Checks only the `max` oldest: ids grow with time, so the rest is younger.
 */
export async function removeExpired(
  client: Client,
  { topic, days, max }: { topic: string; days: number; max: number },
): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM events.log WHERE id IN (
       SELECT id FROM (
         SELECT id, at FROM events.log
         WHERE topic = $1 AND id <= coalesce((SELECT min(last_id) FROM events.offsets WHERE topic = $1), 9223372036854775807)
         ORDER BY id LIMIT $3
       ) oldest
       WHERE at < now() - make_interval(secs => $2 * 86400.0)
       FOR UPDATE SKIP LOCKED
     )`,
    [topic, days, max],
  );
  return rowCount ?? 0;
}
