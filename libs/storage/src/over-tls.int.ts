import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalIdentity, localIdentity } from '@svc/testing';
import type { Pool } from 'pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestRedis } from '../test/redis-server.js';
import { connectRedis } from './redis/redis.js';
import { RedisScript } from './redis/redis-script.js';
import { startEmbeddedPostgres } from './server/embedded-postgres.js';
import { createPool } from './sql/pool.js';
import { withRedis } from '../test/testing.js';

const { skipped, note } = withRedis();

let identity: LocalIdentity;

beforeAll(async () => {
  identity = await localIdentity();
});

describe('over TLS', () => {
  it.skipIf(skipped)(
    `Redis is reached at a rediss: address once its certificate is trusted${note}`,
    async () => {
      const redis = await startTestRedis(identity);
      const warnings: string[] = [];
      const warn = (message: string): void => void warnings.push(message);
      const client = connectRedis({ url: redis.url, name: 'test', logger: { warn, info: () => undefined } });
      while (warnings.length === 0) await sleep(5);
      expect(warnings).toEqual([expect.stringMatching(/certificate/)]);
      expect(client.status).not.toBe('ready');
      const distrust = identity.trust();
      try {
        // It reconnects by itself, as after any outage.
        while (client.status !== 'ready') await sleep(5);
        const script = new RedisScript(client, 'return ARGV[1]');
        expect(await script.run({ keys: [], args: ['said'] })).toBe('said');
      } finally {
        distrust();
        client.disconnect();
        await redis.stop();
      }
    },
  );

  it('PostgreSQL is reached with sslmode=verify-full or PGSSLMODE, if Node or sslrootcert trusts its certificate', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-over-tls-'));
    const server = await startEmbeddedPostgres({ dataDir });
    const plain = createPool(server.url, { name: 'plain' });
    const secure = createPool(`${server.url}?sslmode=verify-full`, { name: 'secure', max: 1 });
    const authority = join(dataDir, 'authority.crt');
    await writeFile(authority, identity.cert);
    const byFile = createPool(`${server.url}?sslmode=verify-full&sslrootcert=${authority}`, {
      name: 'by file',
      max: 1,
    });
    const byVariable = createPool(server.url, { name: 'by variable', max: 1 });
    try {
      const { rows } = await plain.query<{ folder: string }>(`SELECT setting AS folder FROM pg_settings
        WHERE name = 'data_directory'`);
      await layIdentity(rows[0]?.folder ?? '');
      await plain.query('ALTER SYSTEM SET ssl = on');
      await plain.query('SELECT pg_reload_conf()');
      const hasTls = async (): Promise<boolean> => {
        const { rows: shown } = await plain.query<{ ssl: string }>('SHOW ssl');
        return shown[0]?.ssl === 'on';
      };
      while (!(await hasTls())) await sleep(20);
      const isSecure = async (pool: Pool): Promise<void> => {
        const found = await pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
        expect(found.rows).toEqual([{ ssl: true }]);
      };
      await expect(secure.query('SELECT 1')).rejects.toThrow(/certificate/);
      await isSecure(byFile);
      vi.stubEnv('PGSSLMODE', 'verify-full');
      await expect(byVariable.query('SELECT 1')).rejects.toThrow(/certificate/);
      const distrust = identity.trust();
      try {
        await isSecure(secure);
        await isSecure(byVariable);
      } finally {
        distrust();
        vi.unstubAllEnvs();
      }
    } finally {
      await Promise.all([plain, secure, byFile, byVariable].map((pool) => pool.end()));
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

/** PostgreSQL requires its own files, unreadable for other users. */
async function layIdentity(folder: string): Promise<void> {
  const { uid, gid } = await stat(folder);
  for (const [name, text] of [
    ['server.key', identity.key],
    ['server.crt', identity.cert],
  ] as const) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    await chown(join(folder, name), uid, gid);
  }
}
