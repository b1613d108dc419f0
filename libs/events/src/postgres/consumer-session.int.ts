import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConsumerSession } from './consumer-session.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

/** Server settings, as a session to this URL sees them. */
async function settings(url: string): Promise<Record<string, string>> {
  const session = new ConsumerSession({ url });
  try {
    return await session.use(async (client) => {
      const { rows } = await client.query<{ name: string; setting: string }>(
        `SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_keepalives%'`,
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    });
  } finally {
    await session.close();
  }
}

const NOTICED = { tcp_keepalives_idle: '10', tcp_keepalives_interval: '5', tcp_keepalives_count: '3' };

it('the server ends a session within half a minute of losing its network', async () => {
  expect(await settings(database.url)).toMatchObject(NOTICED);
});
