import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestDatabase } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const NOBODY = 'http://127.0.0.1:1';
const NEEDED = {
  PORT: '0',
  DATABASE_URL: 'postgres://svc@127.0.0.1:9/svc',
  LEDGER_URL: NOBODY,
  ROUTER_URL: NOBODY,
  SVC_INTERNAL_TOKEN: 'internal-token-of-the-tests-of-media',
};

it('is live and ready with a folder, refuses callers without the token, and stops on a signal', async () => {
  const database = await startTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'svc-media-'));
  const env = { ...NEEDED, DATABASE_URL: database.url, MEDIA_DIR: folder };
  const { service, match } = await RunningProcess.start({ main: MAIN, env }, /listening on (http:\S+)/);
  expect((await fetch(`${match[1]}/healthz`)).status).toBe(200);
  expect((await fetch(`${match[1]}/readyz`)).status).toBe(200);
  for (const path of ['calls', 'media']) {
    const headers = { authorization: 'Bearer another', 'content-type': 'application/json' };
    const url = `${match[1]}/internal/v1/media-jobs/${path}`;
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(401);
  }
  expect(await service.stop()).toBe(0);
  await database.stop();
  await rm(folder, { recursive: true });
});

it.each([
  [{}, 'MEDIA_S3_URL is not set, and neither is MEDIA_DIR: there is no place for videos and music'],
  [{ MEDIA_S3_URL: NOBODY }, 'MEDIA_S3_BUCKET is not set, which MEDIA_S3_URL needs'],
  [
    { MEDIA_S3_URL: NOBODY, MEDIA_S3_BUCKET: 'media', MEDIA_S3_ACCESS_KEY_ID: 'k' },
    'MEDIA_S3_SECRET_ACCESS_KEY is not set, which MEDIA_S3_ACCESS_KEY_ID needs',
  ],
])('with %j it does not start, and names what is missing', async (given, fault) => {
  const faulty = RunningProcess.spawn({ main: MAIN, env: { ...NEEDED, ...given } });
  expect(await faulty.ended()).toBe(1);
  expect(faulty.output.trim()).toBe(fault);
});

it('reports all invalid settings at once', async () => {
  const env = { PORT: 'x', MEDIA_S3_URL: 'nowhere', MEDIA_S3_BUCKET: '_', MEDIA_RETENTION_HOURS: '0' };
  const faulty = RunningProcess.spawn({ main: MAIN, env });
  expect(await faulty.ended()).toBe(1);
  for (const name of [...Object.keys(env), 'DATABASE_URL', 'LEDGER_URL', 'ROUTER_URL', 'MEDIA_JOBS_TOKEN'])
    expect(faulty.output).toMatch(new RegExp(`^${name}(:| is not set)`, 'm'));
});
