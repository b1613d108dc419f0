import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalS3, temporaryS3 } from '@svc/infra';
import { Database, createPool } from '@svc/storage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestAccount } from '../deployment.js';
import { Random } from '../random.js';
import { ClusterDeployment } from './cluster-deployment.js';

const SEED = Number(process.env['SEED'] ?? 1);
const REPLICAS = { gateway: 2, router: 1, ledger: 1, limiter: 1, media: 2 };
const KILLS = 6;
const KILLS_MAX = 24;
const AWAY_MS = 30_000;
const PRICE = 0.2;
const START_USD = 100;
const PATIENCE = { timeout: 120_000, interval: 500 };
const TIMEOUT = { timeout: 400_000 };

/** Models whose jobs are done, fail, or take until their worker has been killed several times. */
const MODELS = { clip: 'delay-ms=500', long: 'delay-ms=8000', fails: 'delay-ms=0;fault=failed' };

const VIDEO = { prompt: 'A cat', duration: '5s', aspect_ratio: '16:9', resolution: '720p' };

const video = (id: string, settings: string) => (url: string) => ({
  id,
  name: id,
  type: 'video',
  tier: 'XS',
  constraints: { durations: ['5s'], resolutions: ['720p'], aspectRatios: ['16:9'] },
  pricing: { perSecond: { '720p': PRICE / 5 } },
  backends: [{ url: `${url}/v1`, model: `clip;${settings}` }],
});

interface EndRow {
  readonly id: string;
  readonly state: string;
  readonly refund: string | null;
}

let s3: LocalS3;
let platform: ClusterDeployment;
let database: Database;
let account: TestAccount;

beforeAll(async () => {
  s3 = await temporaryS3();
  const models = Object.entries(MODELS).map(([id, settings]) => video(id, settings));
  const publicUrl = { MEDIA_S3_PUBLIC_URL: s3.settings['MEDIA_S3_URL'] ?? '' };
  const settings = { ...s3.settings, ...publicUrl, MEDIA_LIVE_JOBS: '1000' };
  platform = await ClusterDeployment.start(REPLICAS, settings, { models });
  database = new Database(createPool(platform.servers['DATABASE_URL'] ?? '', { name: 'test' }));
}, 240_000);
afterAll(async () => {
  await database.onApplicationShutdown();
  await platform.stop();
  await s3.stop();
}, 120_000);

beforeEach(async () => {
  account = await platform.account(START_USD.toFixed(2));
});
afterEach(() => {
  platform.takeEnds();
});

function post(path: string, body: object): Promise<Response> {
  return fetch(`${platform.apiUrl}/video/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${account.apiKey}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
}

/** Orders a video. Returns the id of its job, if the platform has accepted it. */
async function order(model: string): Promise<string | undefined> {
  const response = await post('queue', { ...VIDEO, model }).catch(() => undefined);
  const ordered = (await response?.json().catch(() => undefined)) as { queue_id?: string } | undefined;
  return ordered?.queue_id;
}

const rows = (): Promise<EndRow[]> =>
  database.query<EndRow>('SELECT id, state, refund FROM media.jobs WHERE account_id = $1', [account.id]);

const isOver = ({ state, refund }: EndRow): boolean =>
  state === 'completed' || (state === 'failed' && refund === 'done');

/**
 * Ends the leases of killed workers, and the wait of jobs that were never charged. No step of these tests
 * takes as long as 15 s.
 */
const letTimePass = (): Promise<unknown> =>
  database.query(
    `UPDATE media.jobs SET lease_until = NULL, next_step_at = now()
     WHERE lease_until - interval '120 s' < now() - interval '15 s'
       OR (state = 'held' AND created_at < now() - interval '15 s')`,
  );

/** Waits until all jobs have ended, and checks money and objects, then deletes everything. */
async function reconcile(accepted: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    await letTimePass();
    expect((await rows()).filter((row) => !isOver(row))).toEqual([]);
  }, PATIENCE);
  const ended = await rows();
  const completed = ended.filter(({ state }) => state === 'completed').map(({ id }) => id);
  // No accepted job is lost.
  expect(accepted.filter((id) => !ended.some((row) => row.id === id))).toEqual([]);
  await vi.waitFor(async () => {
    const { usd } = await platform.balances(account.id);
    expect(Number(usd)).toBeCloseTo(START_USD - PRICE * completed.length, 9);
  }, PATIENCE);
  expect((await platform.audit()).body).toMatchObject({ ok: true });
  await vi.waitFor(
    async () => expect((await s3.objects()).toSorted()).toEqual(completed.toSorted()),
    PATIENCE,
  );
  for (const id of completed)
    await database.query("UPDATE media.jobs SET state = 'deleted', next_step_at = now() WHERE id = $1", [id]);
  await vi.waitFor(async () => expect(await s3.objects()).toEqual([]), PATIENCE);
}

async function orderMany(count: number): Promise<string[]> {
  const models = Object.keys(MODELS);
  const ids = await Promise.all(
    Array.from({ length: count }, (_, at) => order(models[at % models.length] ?? '')),
  );
  return ids.filter((id) => id !== undefined);
}

describe('jobs in a cluster', () => {
  it('have URLs that give the result to anyone, until it is deleted', TIMEOUT, async () => {
    const response = await post('queue', { ...VIDEO, model: 'clip' });
    const { queue_id: id, download_url: url = '' } = (await response.json()) as {
      queue_id: string;
      download_url?: string;
    };
    const result = await vi.waitFor(async () => {
      const video = await fetch(url);
      expect(video.status).toBe(200);
      return Buffer.from(await video.arrayBuffer());
    }, PATIENCE);
    const name = { model: 'clip', queue_id: id };
    const retrieved = await vi.waitFor(async () => {
      const video = await post('retrieve', name);
      expect(video.headers.get('content-type')).toBe('video/mp4');
      return Buffer.from(await video.arrayBuffer());
    }, PATIENCE);
    expect(result.equals(retrieved)).toBe(true);
    await post('complete', name);
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(404), PATIENCE);
  });

  it(
    `charge what is delivered and refund the rest once, when both workers are killed at any step (seed ${SEED})`,
    TIMEOUT,
    async () => {
      const random = new Random(SEED);
      const accepted: string[] = [];
      // On a busy machine most orders are refused, because the workers are still starting.
      for (let kill = 0; kill < KILLS || (accepted.length <= KILLS && kill < KILLS_MAX); kill += 1) {
        const ordering = orderMany(6);
        await sleep(random.between(20, 1_500));
        for (const worker of platform.cluster.replicas('media')) worker.signal('SIGKILL');
        await platform.cluster.ready();
        accepted.push(...(await ordering));
      }
      expect(accepted.length).toBeGreaterThan(KILLS);
      await reconcile(accepted);
    },
  );

  it.each(['postgres', 'redis'] as const)(
    `end exactly after ${AWAY_MS / 1_000} s without %s`,
    TIMEOUT,
    async (server) => {
      const before = await orderMany(9);
      await platform.infra[server].pause();
      const meanwhile = orderMany(3);
      await sleep(AWAY_MS);
      await platform.infra[server].resume();
      await platform.cluster.ready();
      const after = await vi.waitFor(async () => {
        const id = await order('clip');
        expect(id).toBeDefined();
        return id ?? '';
      }, PATIENCE);
      await reconcile([...before, ...(await meanwhile), after]);
    },
  );

  it('are stored when the storage server is back, and downloads fail in between', TIMEOUT, async () => {
    const [done = ''] = await orderMany(1);
    const status = async (id: string): Promise<number> => {
      const response = await post('retrieve', { model: 'clip', queue_id: id });
      const isMedia = response.headers.get('content-type') === 'video/mp4';
      await response.arrayBuffer();
      return response.ok && !isMedia ? 202 : response.status;
    };
    await vi.waitFor(async () => expect(await status(done)).toBe(200), PATIENCE);
    await s3.kill();
    expect(await status(done)).toBe(503);
    const accepted = await orderMany(3);
    await sleep(5_000);
    await s3.restart();
    await vi.waitFor(async () => expect(await status(done)).toBe(200), PATIENCE);
    await reconcile([done, ...accepted]);
    expect((await rows()).filter(({ state }) => state === 'failed').length).toBe(1);
  });
});
