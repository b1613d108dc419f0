import { startTestDatabase } from '@svc/storage/testing';
import { PostgresDeadLetters } from '../src/dead-letters/postgres-dead-letters.js';
import { EventsModule } from '../src/index.js';
import { PostgresEventLog } from '../src/postgres/postgres-event-log.js';
import { Probe } from './counted-events.js';
import type { LogServer, StoredEvent } from './event-harness.js';

/** The log in a PostgreSQL table, in its own database. */
export async function startPostgresLog(): Promise<LogServer> {
  const database = await startTestDatabase();
  const probe = new Probe(database.url);
  const locker = new Probe(database.url);
  await probe.open();
  await locker.open();
  return {
    createTopic: () => Promise.resolve(),
    openLog: (config) => new PostgresEventLog({ url: database.url, ...config }),
    module: (config) =>
      EventsModule.postgres({ url: database.url, pollMs: 20, broadcastPollMs: 20, ...config }),
    stored: (topic) =>
      probe.query<{ key: string; payload: string }>(
        'SELECT key, payload FROM events.log WHERE topic = $1 ORDER BY id',
        [topic],
      ),
    store: async (topic, { key, payload }: StoredEvent) => {
      await probe.query('INSERT INTO events.log (topic, key, payload) VALUES ($1, $2, $3)', [
        topic,
        key,
        payload,
      ]);
    },
    handledBy: async (group, topic) => {
      const rows = await probe.query<{ handled: number }>(
        `SELECT (SELECT count(*) FROM events.log l WHERE l.topic = o.topic AND l.id <= o.last_id)::int AS handled
         FROM events.offsets o WHERE "group" = $1 AND topic = $2`,
        [group, topic],
      );
      return rows[0]?.handled ?? 0;
    },
    deadLetters: () => new PostgresDeadLetters(database.url),
    pause: async () => {
      await locker.query('BEGIN');
      await locker.query('LOCK TABLE events.log IN ACCESS EXCLUSIVE MODE');
    },
    resume: async () => {
      await locker.query('ROLLBACK');
    },
    stop: async () => {
      await Promise.all([probe.close(), locker.close()]);
      await database.stop();
    },
  };
}
