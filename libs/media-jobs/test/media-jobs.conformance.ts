import { randomUUID } from 'node:crypto';
import type { MediaJobName, MediaJobs, MediaJobsWanted, NewMediaJob } from '@svc/contracts/ports';
import { Database, createPool } from '@svc/storage';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobFixture } from './job-fixture.js';

/** A port on the jobs of a fixture, called as its users call it. */
export interface StartedPort {
  readonly port: MediaJobs;
  readonly stop: () => Promise<void>;
}

const PICTURE = Buffer.alloc(25_000_000, 'pixels').toString('base64');

/** What every adapter of the port promises. */
export function mediaJobsConformance(name: string, start: (local: MediaJobs) => Promise<StartedPort>): void {
  describe(`${name}: the port of jobs`, () => {
    let test: TestDatabase;
    let database: Database;
    let fixture: JobFixture;
    let started: StartedPort;

    beforeAll(async () => {
      test = await startTestDatabase();
      database = new Database(createPool(test.url, { name: 'test' }));
    });
    afterAll(async () => {
      await database.onApplicationShutdown();
      await test.stop();
    });
    beforeEach(async () => {
      await database.query('DELETE FROM media.jobs');
      fixture = new JobFixture(database, () => 0.5, randomUUID());
      fixture.isFaulty = false;
      started = await start(fixture.port());
      return () => started.stop();
    });

    const jobOf = (over: Partial<NewMediaJob> = {}): NewMediaJob => ({ ...fixture.newJob(), ...over });
    const nameOf = ({ id, accountId, kind, model }: NewMediaJob): MediaJobName => ({
      id,
      accountId,
      kind,
      model,
    });

    /** A job whose backend has completed it. */
    async function completed(): Promise<NewMediaJob> {
      const job = jobOf();
      await started.port.place(job);
      await started.port.charged(job.id);
      await fixture.work();
      for (const entry of fixture.backend.jobs.values()) entry.state = 'completed';
      for (let step = 0; step < 4; step += 1) {
        fixture.pass(10_000);
        await fixture.work();
      }
      return job;
    }

    it('shows a job once it is charged, to its own account, under its own model and kind only', async () => {
      const { port } = started;
      const job = jobOf();
      await port.place(job);
      expect(await port.find(nameOf(job))).toBeUndefined();
      await port.charged(job.id);
      expect(await port.find(nameOf(job))).toEqual({
        id: job.id,
        model: 'clip',
        state: 'running',
        expectedMs: 60_000,
        tookMs: 0,
      });
      for (const other of [{ accountId: randomUUID() }, { model: 'other' }, { kind: 'music' as const }])
        expect(await port.find({ ...nameOf(job), ...other })).toBeUndefined();
    });

    it('passes the largest picture on to the backend as it was', async () => {
      const job = jobOf();
      const order = { ...job.order, picture: { type: 'image/png', base64: PICTURE } };
      await started.port.place({ ...job, order });
      await started.port.charged(job.id);
      await fixture.work();
      expect(fixture.backend.orders[0]?.picture?.base64 === PICTURE).toBe(true);
    });

    it('passes further files on to the backend as they were, in their sequence, until the job ends', async () => {
      const job = jobOf();
      const inputs = ['AAEC', 'AwQF', ''].map((base64) => ({
        part: 'references',
        type: 'image/png',
        base64,
      }));
      await started.port.place({ ...job, order: { ...job.order, picture: undefined, inputs } });
      await started.port.charged(job.id);
      await fixture.work();
      expect(fixture.backend.orders[0]).toMatchObject({ inputs });
      const stored = () =>
        database.query('SELECT inputs IS NULL AS gone FROM media.jobs WHERE id = $1', [job.id]);
      expect(await stored()).toEqual([{ gone: false }]);
      await started.port.end(job.id);
      expect(await stored()).toEqual([{ gone: true }]);
    });

    it('takes a job once, however often it is placed and reported as charged', async () => {
      const { port } = started;
      const job = jobOf({ idempotencyKey: 'once' });
      for (let time = 0; time < 2; time += 1) await port.place(job);
      for (let time = 0; time < 2; time += 1) await port.charged(job.id);
      await fixture.work();
      await port.place(job);
      await port.charged(job.id);
      expect(fixture.backend.submits).toBe(1);
      expect(await database.query('SELECT id FROM media.jobs')).toEqual([{ id: job.id }]);
    });

    it('rejects the charge of a job that has failed without one', async () => {
      const job = jobOf();
      await started.port.place(job);
      fixture.pass(130_000);
      await fixture.work();
      await expect(started.port.charged(job.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect(started.port.charged(randomUUID())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    it('finds a job by its idempotency key, and rejects another request with that key', async () => {
      const { port } = started;
      const job = jobOf({ idempotencyKey: 'once' });
      const key = {
        accountId: job.accountId,
        kind: job.kind,
        bodySha256: job.bodySha256,
        idempotencyKey: 'once',
      };
      expect(await port.earlier(key)).toBeUndefined();
      await port.place(job);
      await expect(port.earlier(key)).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
      await port.charged(job.id);
      expect(await port.earlier(key)).toEqual({ id: job.id, model: 'clip' });
      await expect(port.earlier({ ...key, bodySha256: 'other' })).rejects.toMatchObject({
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
      await expect(port.place(jobOf({ idempotencyKey: 'once' }))).rejects.toMatchObject({
        code: 'REQUEST_IN_PROGRESS',
      });
    });

    it('finds the latest charged job of a key with the same request', async () => {
      const { port } = started;
      const job = jobOf();
      await port.place(job);
      expect(await port.repeated(job)).toBeUndefined();
      await port.charged(job.id);
      expect(await port.repeated(job)).toEqual({ id: job.id, model: 'clip' });
      expect(await port.repeated({ ...job, keyId: 'other' })).toBeUndefined();
    });

    it('frees the idempotency key of a job that is withdrawn', async () => {
      const { port } = started;
      const job = jobOf({ idempotencyKey: 'once' });
      await port.place(job);
      await port.withdraw(job.id);
      const again = jobOf({ idempotencyKey: 'once' });
      await port.place(again);
      await fixture.work();
      await port.charged(again.id);
      await expect(port.charged(job.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    it('rejects more jobs than an account may have', async () => {
      for (let count = 0; count < 5; count += 1) await started.port.place(jobOf());
      await expect(started.port.place(jobOf())).rejects.toMatchObject({ code: 'TOO_MANY_JOBS' });
    });

    it('gives a URL of what a job makes for the time that it is kept, and of an unknown job none', async () => {
      const { port } = started;
      const job = jobOf();
      await port.place(job);
      await port.charged(job.id);
      expect(await port.downloadUrl(job.id)).toBe(`https://media.example/${job.id}?seconds=86400`);
      fixture.pass(3_600_000);
      expect(await port.downloadUrl(job.id)).toBe(`https://media.example/${job.id}?seconds=82800`);
      fixture.pass(23 * 3_600_000);
      expect(await port.downloadUrl(job.id)).toBeUndefined();
      expect(await port.downloadUrl(randomUUID())).toBeUndefined();
    });

    it('streams what a job has made, until it is removed', async () => {
      const { port } = started;
      fixture.backend.media = Buffer.concat([fixture.backend.media, Buffer.alloc(5_000, 'x')]);
      const job = await completed();
      expect(await port.find(nameOf(job))).toMatchObject({
        state: 'completed',
        media: { mime: 'video/mp4', bytes: fixture.backend.media.length },
      });
      const parts: Uint8Array[] = [];
      for await (const part of await port.open(job.id)) parts.push(part);
      expect(Buffer.concat(parts).equals(fixture.backend.media)).toBe(true);
      for (let time = 0; time < 2; time += 1) await port.remove(job.id);
      await fixture.work();
      expect(await port.find(nameOf(job))).toMatchObject({ state: 'deleted' });
      await expect(port.open(job.id)).rejects.toMatchObject({ code: 'MEDIA_NOT_FOUND' });
    });

    it('shows why a job failed, and that its cost was returned', async () => {
      const job = jobOf();
      await started.port.place(job);
      await started.port.charged(job.id);
      await fixture.books.post([fixture.chargeOf(job)]);
      await fixture.work();
      for (const entry of fixture.backend.jobs.values())
        Object.assign(entry, { state: 'failed', isRefused: true });
      for (let step = 0; step < 3; step += 1) {
        fixture.pass(10_000);
        await fixture.work();
      }
      expect(await started.port.find(nameOf(job))).toMatchObject({
        state: 'failed',
        failure: { code: 'CONTENT_POLICY_VIOLATION', isRefunded: true },
      });
    });

    const idsOf = async (wanted: Partial<MediaJobsWanted>): Promise<string[]> =>
      (await started.port.list({ limit: 100, ...wanted })).map(({ id }) => id);

    it('lists jobs to operators, newest first, by what they ask for', async () => {
      const { port } = started;
      const first = jobOf();
      await port.place(first);
      fixture.pass(1_000);
      const secondAt = new Date(fixture.nowMs);
      const second = jobOf({ accountId: randomUUID(), kind: 'music', model: 'song' });
      await port.place(second);
      await port.charged(second.id);
      const wanted: [Partial<MediaJobsWanted>, string[]][] = [
        [{}, [second.id, first.id]],
        [{ accountId: first.accountId }, [first.id]],
        [{ kind: 'music' }, [second.id]],
        [{ model: 'clip' }, [first.id]],
        [{ states: ['held'] }, [first.id]],
        [{ states: ['held', 'queued'] }, [second.id, first.id]],
        [{ from: secondAt }, [second.id]],
        [{ until: secondAt }, [first.id]],
        [{ model: 'clip', states: ['completed'] }, []],
      ];
      for (const [filter, ids] of wanted) expect(await idsOf(filter)).toEqual(ids);
      expect((await port.list({ limit: 1 }))[0]).toMatchObject({
        requestId: second.requestId,
        keyId: 'key',
        state: 'queued',
        createdAt: secondAt,
      });
      expect(JSON.stringify(await port.list({ limit: 100 }))).not.toContain('a cat');
    });

    it('lists each job on one page, even those of the same moment, and when the last of a page is deleted', async () => {
      const jobs = Array.from({ length: 5 }, () => jobOf());
      for (const job of jobs) await started.port.place(job);
      const seen: string[] = [];
      for (let before: MediaJobsWanted['before']; ;) {
        const page = await started.port.list({ limit: 2, before });
        seen.push(...page.map(({ id }) => id));
        before = page.at(-1);
        if (!before) break;
        await database.query('DELETE FROM media.jobs WHERE id = $1', [before.id]);
      }
      expect(seen.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
    });

    it('ends a job under way: cancels it, returns its cost once, and shows its client why', async () => {
      const { port } = started;
      const job = jobOf();
      await port.place(job);
      await port.charged(job.id);
      await fixture.books.post([fixture.chargeOf(job)]);
      await fixture.work();
      for (let time = 0; time < 2; time += 1)
        expect(await port.end(job.id)).toMatchObject({ state: 'failed', failureCode: 'ENDED_BY_OPERATOR' });
      await fixture.work();
      expect([fixture.backend.jobs.size, [...fixture.books.refunded.keys()]]).toEqual([0, [job.requestId]]);
      expect(await port.end(job.id)).toMatchObject({ refund: 'done' });
      expect(await port.find(nameOf(job))).toMatchObject({
        state: 'failed',
        failure: { code: 'INFERENCE_FAILED', message: expect.stringContaining('operator'), isRefunded: true },
      });
    });

    it('does not end a job that has ended by itself, or that it does not have', async () => {
      const job = await completed();
      await expect(started.port.end(job.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' });
      await started.port.remove(job.id);
      await expect(started.port.end(job.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' });
      const uncharged = jobOf();
      await started.port.place(uncharged);
      fixture.pass(130_000);
      await fixture.work();
      await expect(started.port.end(uncharged.id)).rejects.toMatchObject({ code: 'JOB_FINISHED' });
      await expect(started.port.end(randomUUID())).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' });
      expect(fixture.books.refunded.size).toBe(0);
    });
  });
}
