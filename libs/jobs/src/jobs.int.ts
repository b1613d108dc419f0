import { setTimeout as sleep } from 'node:timers/promises';
import { type JobDefinition, defineJob } from '@svc/contracts/messages';
import { createLogger } from '@svc/runtime';
import { withRedis } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { BullJobs, JobNotStored } from './bull-jobs.js';
import { BullWorkers } from './bull-workers.js';
import type { JobRun, JobTimes, JobWorker } from './job-workers.js';
import {
  type JobsServer,
  count,
  startPostgres,
  startRedis,
  startRedisCluster,
} from '../test/jobs-servers.js';

const WAIT = { timeout: 50_000, interval: 20 };

let server: JobsServer;
const closers: (() => Promise<void>)[] = [];

function openJobs(): BullJobs {
  const jobs = new BullJobs({ backend: server.backend });
  closers.push(() => jobs.onApplicationShutdown());
  return jobs;
}

/** A process with a worker for a job. */
function startWorker<Payload>(
  job: JobDefinition<Payload>,
  worker: JobWorker<Payload>,
  times?: JobTimes<Payload>,
) {
  const log = createLogger('silent');
  const logged = { warn: vi.spyOn(log, 'warn'), error: vi.spyOn(log, 'error') };
  const workers = new BullWorkers({ backend: server.backend, startAfterMs: 0 }, openJobs(), { log });
  workers.work(job, worker, times);
  workers.onApplicationBootstrap();
  const stop = (): Promise<void> => workers.onModuleDestroy();
  closers.unshift(stop);
  return { ...logged, stop };
}

/** A job of a queue that no other test uses. */
const own = (queue: string, more: Partial<typeof count> = {}): typeof count => ({ ...count, ...more, queue });

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const { skipped, note } = withRedis();
const servers = [
  { name: 'PostgreSQL', skip: false, start: startPostgres },
  { name: `Redis${note}`, skip: skipped, start: startRedis },
];

for (const { name, skip, start } of servers)
  describe.skipIf(skip)(`jobs on ${name}`, () => {
    beforeAll(async () => {
      server = await start();
    });

    afterAll(() => server.stop());

    it('delivers each job with its payload to one of the workers, in the order of its queue', async () => {
      const job = own('order');
      const seen: number[] = [];
      startWorker(job, async ({ n }) => void seen.push(n));
      const jobs = openJobs();
      for (let n = 1; n <= 30; n += 1) await jobs.add(job, { n });
      await vi.waitFor(() => expect(seen).toHaveLength(30), WAIT);
      expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    });

    it('adds a job with the same name and id once', async () => {
      const job = own('once');
      const seen: number[] = [];
      const jobs = openJobs();
      const adds = Array.from({ length: 10 }, (_, n) => jobs.add(job, { n }, { id: '7:a/b' }));
      await Promise.all(adds);
      await jobs.add(job, { n: 100 }, { id: '7' });
      startWorker(job, async ({ n }) => void seen.push(n));
      await vi.waitFor(() => expect(seen).toContain(100), WAIT);
      expect(seen).toHaveLength(2);
    });

    it('retries a job as often as its definition allows, and logs every failure', async () => {
      const job = own('again');
      const attempts: number[] = [];
      const { warn, error } = startWorker(job, async (_, run) => {
        attempts.push(run.attempt);
        throw new Error('no luck');
      });
      await openJobs().add(job, { n: 1 });
      await vi.waitFor(() => expect(error).toHaveBeenCalledOnce(), WAIT);
      expect(attempts).toEqual([1, 2, 3]);
      expect(warn).toHaveBeenCalledTimes(2);
      expect(error.mock.calls[0]?.[0]).toMatchObject({
        queue: 'again',
        job: 'count',
        error: 'Error: no luck',
      });
    });

    it('rejects an invalid payload on adding, and fails a stored one without a retry', async () => {
      const job = own('faulty');
      const seen: unknown[] = [];
      const { error } = startWorker(job, async (payload) => void seen.push(payload));
      const jobs = openJobs();
      await expect(jobs.add(job, { n: 0.5 })).rejects.toThrow(z.ZodError);
      const older = defineJob({ ...job, payload: z.strictObject({ count: z.string() }) });
      await jobs.add(older, { count: 'five' });
      await vi.waitFor(() => expect(error).toHaveBeenCalledOnce(), WAIT);
      expect(JSON.stringify(error.mock.calls)).toMatch(/payload of count is faulty.*unknown members/);
      expect(seen).toEqual([]);
    });

    it('fails an attempt that exceeds its deadline, and continues with the next job', async () => {
      const job = own('deadline', { deadlineMs: 100, attempts: 1 });
      const seen: number[] = [];
      const { error } = startWorker(job, async ({ n }, { signal }) => {
        seen.push(n);
        if (n === 1) await sleep(60_000, undefined, { signal });
      });
      const jobs = openJobs();
      await jobs.add(job, { n: 1 });
      await jobs.add(job, { n: 2 });
      await vi.waitFor(() => expect(seen).toEqual([1, 2]), WAIT);
      expect(JSON.stringify(error.mock.calls)).toContain('count took longer than 100 ms');
    });

    it('runs a scheduled job once at each of its times, over several processes', async () => {
      const job = own('schedule');
      const dueMs: number[] = [];
      const worker = async (_: unknown, { dueAt }: JobRun) => void dueMs.push(dueAt.getTime());
      const times = { payload: { n: 0 }, cron: '* * * * * *' };
      startWorker(job, worker, times);
      startWorker(job, worker, times);
      startWorker(job, worker, times);
      await vi.waitFor(() => expect(dueMs.length).toBeGreaterThanOrEqual(3), WAIT);
      expect(new Set(dueMs).size).toBe(dueMs.length);
      expect(dueMs.map((ms) => ms % 1_000)).toEqual(dueMs.map(() => 0));
    });

    it('runs a job at each start, if configured', async () => {
      const job = own('at-start');
      let done = 0;
      const times = { payload: { n: 0 }, cron: '0 0 1 1 *', atStart: true };
      await startAndWait();
      await startAndWait();
      expect(done).toBe(2);

      async function startAndWait(): Promise<void> {
        const before = done;
        const { stop } = startWorker(job, async () => void (done += 1), times);
        await vi.waitFor(() => expect(done).toBe(before + 1), WAIT);
        await stop();
      }
    });

    it('stops within seconds with a job in progress, which another process restarts with all its attempts', async () => {
      const job = own('handover');
      const attempts: number[] = [];
      const stubborn = startWorker(job, async (_, run) => {
        attempts.push(run.attempt);
        await sleep(60_000, undefined, { ref: false });
      });
      await openJobs().add(job, { n: 1 });
      await vi.waitFor(() => expect(attempts).toEqual([1]), WAIT);
      const begun = performance.now();
      await stubborn.stop();
      expect(performance.now() - begun).toBeLessThan(4_000);
      startWorker(job, async (_, run) => void attempts.push(run.attempt));
      await vi.waitFor(() => expect(attempts).toEqual([1, 1]), WAIT);
    });

    it('survives an outage of the server, and starts during one', async () => {
      const job = own('outage');
      const seen: number[] = [];
      const worker = async ({ n }: { n: number }): Promise<void> => void seen.push(n);
      const first = startWorker(job, worker);
      const jobs = openJobs();
      await jobs.add(job, { n: 1 });
      await vi.waitFor(() => expect(seen).toEqual([1]), WAIT);
      await server.leave();
      const second = startWorker(own('outage-2'), worker);
      await expect(jobs.add(job, { n: 0 })).rejects.toBeInstanceOf(JobNotStored);
      await sleep(1_500);
      const lines = first.warn.mock.calls.length + second.warn.mock.calls.length;
      expect(lines).toBeLessThanOrEqual(4);
      await server.comeBack();
      await vi.waitFor(() => jobs.add(job, { n: 2 }), WAIT);
      await vi.waitFor(() => jobs.add(own('outage-2'), { n: 3 }), WAIT);
      // The rejected job may have been stored anyway.
      await vi.waitFor(() => expect(seen).toEqual(expect.arrayContaining([1, 2, 3])), WAIT);
    });

    it('survives the end of a connection at any moment, while opening, working and closing', async () => {
      const thrown: Error[] = [];
      process.on('uncaughtExceptionMonitor', (error) => thrown.push(error));
      for (let time = 0; time < 10; time += 1) {
        const { stop } = startWorker(own(`ended-${time}`), async () => undefined);
        await sleep(time * 20);
        await Promise.all([server.leave(), stop()]);
        await server.comeBack();
      }
      await sleep(100);
      expect(thrown).toEqual([]);
    });

    it('stops within seconds while the server is away', async () => {
      const job = own('stop-away');
      const seen: number[] = [];
      const { stop } = startWorker(job, async ({ n }) => void seen.push(n));
      const jobs = openJobs();
      await jobs.add(job, { n: 1 });
      await vi.waitFor(() => expect(seen).toEqual([1]), WAIT);
      await server.leave();
      const begun = performance.now();
      await stop();
      await jobs.onApplicationShutdown();
      expect(performance.now() - begun).toBeLessThan(6_000);
      await server.comeBack();
    });
  });

describe.skipIf(skipped)(`jobs on a Redis Cluster of three${note}`, () => {
  beforeAll(async () => {
    server = await startRedisCluster();
  });

  afterAll(() => server?.stop());

  it('run once on one of the workers, are retried if they fail, and are scheduled once', async () => {
    const job = own('cluster');
    const seen: number[] = [];
    let failures = 0;
    const worker = async ({ n }: { n: number }): Promise<void> => {
      if (n === 3 && (failures += 1) === 1) throw new Error('once');
      seen.push(n);
    };
    startWorker(job, worker);
    startWorker(job, worker);
    const jobs = openJobs();
    for (let n = 0; n < 20; n += 1) await jobs.add(job, { n });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    await vi.waitFor(() => expect(seen.toSorted((a, b) => a - b)).toEqual(numbers), WAIT);
    const daily = own('cluster-times');
    const times: number[] = [];
    const note = async (_: unknown, run: JobRun): Promise<void> => void times.push(run.dueAt.getTime());
    for (let process = 0; process < 2; process += 1)
      startWorker(daily, note, { payload: { n: 1 }, cron: '* * * * * *' });
    await vi.waitFor(() => expect(times.length).toBeGreaterThan(2), WAIT);
    expect(new Set(times).size).toBe(times.length);
  });
});
