import { randomUUID } from 'node:crypto';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { JobFixture, PRICE_NANO } from './job-fixture.js';

const HISTORIES = repeats('MEDIA_HISTORIES');
const TURNS = 80;
const HOUR_MS = 3_600_000;
/** The deadline of a job, what is added for a result that is ready then, and a lease. */
const LIVE_MS = 600_000 + 600_000 + 120_000;

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await startTestDatabase();
  database = new Database(createPool(test.url, { name: 'test' }));
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await test.stop();
});

// Each fixture works on whatever is due.
beforeEach(() => database.query('DELETE FROM media.jobs'));

/** A small generator, so that a history can be repeated by its seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface EndRow {
  readonly id: string;
  readonly state: string;
  readonly refund: string | null;
  readonly order: unknown;
}

const rowsOf = (accountId: string): Promise<EndRow[]> =>
  database.query<EndRow>('SELECT id, state, refund, "order" FROM media.jobs WHERE account_id = $1', [
    accountId,
  ]);

/** Continues without faults for as long as a job may be alive. */
async function finish(fixture: JobFixture): Promise<void> {
  fixture.isFaulty = false;
  await fixture.books.deliver();
  for (let passed = 0; passed < LIVE_MS + 60_000; passed += 10_000) {
    await fixture.work();
    fixture.pass(10_000);
  }
  await fixture.work();
}

describe('random histories of jobs', () => {
  const seeds = Array.from({ length: HISTORIES }, (_, index) => index + Number(process.env['SEED'] ?? 1));

  it.each(seeds)('end with exact money, no live job and no object (seed %i)', async (seed) => {
    const fixture = new JobFixture(database, randomOf(seed), randomUUID());
    for (let turn = 0; turn < TURNS; turn += 1) await fixture.turn();
    await finish(fixture);
    const rows = new Map((await rowsOf(fixture.accountId)).map((row) => [row.id, row]));
    for (const { id, requestId } of fixture.jobs) {
      const row = rows.get(id);
      if (!row) continue;
      const { state, refund, order } = row;
      expect(['completed', 'deleted', 'failed']).toContain(state);
      expect(order).toBeNull();
      const paid =
        (fixture.books.posted.get(requestId) ?? 0n) - (fixture.books.refunded.get(requestId) ?? 0n);
      expect(paid).toBe(state === 'failed' ? 0n : PRICE_NANO);
      expect(refund).toBe(state === 'failed' ? 'done' : null);
      expect(fixture.files.objects.has(id)).toBe(state === 'completed');
    }
    fixture.pass(25 * HOUR_MS);
    for (let round = 0; round < 5; round += 1) await fixture.work();
    expect(await rowsOf(fixture.accountId)).toEqual([]);
    expect([...fixture.files.objects.keys()]).toEqual([]);
  });
});

describe('a job', () => {
  const fixture = (): JobFixture => {
    const made = new JobFixture(database, randomOf(1), randomUUID());
    made.isFaulty = false;
    return made;
  };
  const nameOf = ({ accountId }: JobFixture, id: string) =>
    ({ id, accountId, kind: 'video', model: 'clip' }) as const;

  /** Orders a job, and lets the backend accept it. */
  async function running(made: JobFixture): Promise<string> {
    const id = await made.order();
    if (id === undefined) throw new Error('the job was not placed');
    await made.books.deliver();
    await made.work();
    return id;
  }

  async function after(made: JobFixture, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10_000) {
      made.pass(10_000);
      await made.work();
    }
  }

  /** Lets a worker begin what is due, and never end it. */
  async function killed(made: JobFixture): Promise<void> {
    made.backend.isStalled = true;
    const fetches = made.backend.fetches.length;
    const began = vi.waitUntil(() => made.backend.fetches.length > fetches, { timeout: 30_000 });
    began.catch(() => undefined);
    // If nothing is due, it ends.
    await Promise.race([began, made.work()]);
    made.backend.isStalled = false;
  }

  async function killedWhileStoring(made: JobFixture): Promise<void> {
    made.pass(10_000);
    await made.work();
    expect(made.backend.fetches).toHaveLength(0);
    await killed(made);
  }

  const end = (made: JobFixture, state: 'completed' | 'failed', isRefused = false): void => {
    for (const entry of made.backend.jobs.values()) Object.assign(entry, { state, isRefused });
  };

  it('is delivered, and its request is removed', async () => {
    const made = fixture();
    const id = await running(made);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({ state: 'running' });
    end(made, 'completed');
    await after(made, 30_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({
      state: 'completed',
      media: { mime: 'video/mp4', bytes: 2_012 },
    });
    expect(made.backend.jobs.size).toBe(0);
    expect(made.books.refunded.size).toBe(0);
  });

  it('that a backend refuses is paid back, and shows why', async () => {
    const made = fixture();
    const id = await running(made);
    end(made, 'failed', true);
    await after(made, 30_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({
      state: 'failed',
      failure: { code: 'CONTENT_POLICY_VIOLATION', isRefunded: true },
    });
    expect([...made.books.refunded.values()]).toEqual([PRICE_NANO]);
  });

  it('that a restarted backend has lost is submitted again once, then paid back', async () => {
    const made = fixture();
    const id = await running(made);
    made.backend.jobs.clear();
    await after(made, 60_000);
    expect(made.backend.submits).toBe(2);
    made.backend.jobs.clear();
    await after(made, 60_000);
    expect(made.backend.submits).toBe(2);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({ state: 'failed' });
    expect(made.books.refunded.size).toBe(1);
  });

  it('that never ends is cancelled at its deadline and paid back', async () => {
    const made = fixture();
    const id = await running(made);
    await after(made, 640_000);
    expect(made.backend.cancels).toBe(1);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({
      state: 'failed',
      failure: { code: 'REQUEST_TIMEOUT', isRefunded: true },
    });
  });

  it('whose worker is killed while it stores the result is stored by another within two minutes', async () => {
    const made = fixture();
    const id = await running(made);
    end(made, 'completed');
    await killedWhileStoring(made);
    await after(made, 120_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({ state: 'completed' });
  });

  it('ends at its deadline, however often its workers are killed while they store the result', async () => {
    const made = fixture();
    const id = await running(made);
    end(made, 'completed');
    await killedWhileStoring(made);
    // Until the last worker is killed a moment before the deadline.
    for (let passed = 10_000; passed < 590_000; passed += 10_000) {
      made.pass(10_000);
      await killed(made);
    }
    await after(made, 30_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({
      state: 'failed',
      failure: { code: 'REQUEST_TIMEOUT', isRefunded: true },
    });
  });

  it('stays with the worker that stores it for as long as that works, and is given up when it is taken', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const made = fixture();
    const id = await running(made);
    end(made, 'completed');
    await killedWhileStoring(made);
    for (let passed = 0; passed < 300_000; passed += 30_000) {
      made.pass(30_000);
      vi.advanceTimersByTime(30_000);
      await expect.poll(() => made.store.due(new Date(made.nowMs + 60_000), 10)).toEqual([]);
    }
    await database.query('UPDATE media.jobs SET version = version + 1 WHERE id = $1', [id]);
    vi.advanceTimersByTime(30_000);
    await expect.poll(() => made.backend.fetches[0]?.aborted).toBe(true);
  });

  it('that an operator ends while its result is stored is paid back, and leaves no object', async () => {
    const made = fixture();
    const id = await running(made);
    end(made, 'completed');
    await killedWhileStoring(made);
    await made.port().end(id);
    await after(made, 10_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({
      state: 'failed',
      failure: { code: 'INFERENCE_FAILED', isRefunded: true },
    });
    expect([made.backend.jobs.size, made.files.objects.size]).toEqual([0, 0]);
  });

  it('that an operator ends before it is submitted never reaches a backend', async () => {
    const made = fixture();
    const id = await made.order();
    await made.port().end(id ?? '');
    await made.books.deliver();
    await after(made, 60_000);
    expect([made.backend.submits, made.books.refunded.size]).toEqual([0, 1]);
  });

  it('whose result is no video is paid back', async () => {
    const made = fixture();
    made.backend.media = Buffer.from(`<html>${'x'.repeat(2_000)}</html>`);
    const id = await running(made);
    end(made, 'completed');
    await after(made, 200_000);
    expect(await made.port().find(nameOf(made, id))).toMatchObject({ state: 'failed' });
    expect(made.books.refunded.size).toBe(1);
    expect(made.files.objects.size).toBe(0);
  });
});
