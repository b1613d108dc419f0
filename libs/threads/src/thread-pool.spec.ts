import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ThreadBounds, ThreadPool } from './thread-pool.js';

interface Command {
  readonly what: 'echo' | 'spin' | 'heap' | 'buffers' | 'exit' | 'throw' | 'env' | 'refuse' | 'keep';
  readonly bytes: Uint8Array;
}

/** Does what its job says, good or bad. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    const kept = [];
    parentPort.on('message', ({ what, bytes }) => {
      if (what === 'spin') for (;;);
      if (what === 'heap') for (;;) kept.push({ text: String(kept.length) });
      if (what === 'buffers') for (;;) kept.push(new Uint8Array(1_000_000).fill(1));
      if (what === 'keep') kept.push(new Uint8Array(128 * 1_048_576).fill(1));
      if (what === 'exit') process.exit(0);
      if (what === 'throw') throw new Error('broken');
      if (what === 'env') parentPort.postMessage({ value: Object.keys(process.env) });
      else if (what === 'refuse') parentPort.postMessage({ refused: 'it is broken' });
      else parentPort.postMessage({ value: { threadId, bytes: [...bytes], shared: bytes.buffer.byteLength } });
    });`)}`,
);

const bounds: ThreadBounds = {
  threads: 1,
  queueLimit: 2,
  timeoutMs: 20_000,
  heapLimitMb: 32,
  buffersLimitMb: 64,
};
const pools: ThreadPool<Command, unknown>[] = [];

function poolOf(changes: Partial<ThreadBounds> = {}): ThreadPool<Command, unknown> {
  const pool = new ThreadPool<Command, unknown>(entry, { ...bounds, ...changes });
  pools.push(pool);
  return pool;
}

const me = { account: 'me' };

const kindOf = (error: unknown): unknown => (error as { kind?: unknown }).kind;

const command = (what: Command['what'], ...bytes: number[]): Command => ({
  what,
  bytes: Uint8Array.from(bytes),
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe('ThreadPool', () => {
  it('gives a thread only the bytes of the view, and leaves the caller its own', async () => {
    const whole = Uint8Array.from([1, 2, 3, 4]);
    const response = await poolOf().run({ what: 'echo', bytes: whole.subarray(1, 3) }, me);
    expect(response).toMatchObject({ bytes: [2, 3], shared: 2 });
    expect(whole).toEqual(Uint8Array.from([1, 2, 3, 4]));
    const pooled = Buffer.from('ab');
    expect(await poolOf().run({ what: 'echo', bytes: pooled }, me)).toMatchObject({
      bytes: [97, 98],
      shared: 2,
    });
    expect(pooled.toString()).toBe('ab');
  });

  it('transfers bytes that the caller gives up, and copies those that share a buffer', async () => {
    const giving = { ...me, givesBytes: true };
    const whole = Uint8Array.of(1, 2, 3);
    const part = Uint8Array.of(4, 5, 6).subarray(1);
    expect(await poolOf().run({ what: 'echo', bytes: whole }, giving)).toMatchObject({ bytes: [1, 2, 3] });
    expect(await poolOf().run({ what: 'echo', bytes: part }, giving)).toMatchObject({
      bytes: [5, 6],
      shared: 2,
    });
    expect([whole.length, part.length]).toEqual([0, 2]);
  });

  it('ends an endless job at its deadline, and gives the next job a new thread', async () => {
    const pool = poolOf({ timeoutMs: 1_000 });
    const first = await pool.run(command('echo'), me);
    await expect(pool.run(command('spin'), me)).rejects.toMatchObject({ kind: 'timeout' });
    const next = await pool.run(command('echo', 9), me);
    expect(next).toMatchObject({ bytes: [9] });
    expect(next).not.toMatchObject({ threadId: (first as { threadId: number }).threadId });
  });

  it('keeps the event loop running while threads spin', async () => {
    const pool = poolOf({ threads: 2, timeoutMs: 1_500 });
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 5);
    const stuck = await Promise.allSettled([pool.run(command('spin'), me), pool.run(command('spin'), me)]);
    clearInterval(turning);
    expect(stuck.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    // If threads blocked it, it would turn once or twice.
    expect(turns).toBeGreaterThan(20);
  });

  it.each(['heap', 'buffers'] as const)('fails only the job that fills its thread with %s', async (what) => {
    const pool = poolOf({ threads: 2 });
    const [greedy, modest] = await Promise.allSettled([
      pool.run(command(what), me),
      pool.run(command('echo', 1), me),
    ]);
    expect(greedy).toMatchObject({ status: 'rejected', reason: { kind: 'memory' } });
    expect(modest).toMatchObject({ status: 'fulfilled', value: { bytes: [1] } });
    expect(await pool.run(command('echo', 2), me)).toMatchObject({ bytes: [2] });
  });

  it.each(['exit', 'throw'] as const)('fails only the job whose thread breaks by %s', async (what) => {
    const pool = poolOf();
    await expect(pool.run(command(what), me)).rejects.toMatchObject({ kind: 'crash' });
    expect(await pool.run(command('echo', 2), me)).toMatchObject({ bytes: [2] });
  });

  it('reports why a job was rejected, and keeps using the thread', async () => {
    const pool = poolOf();
    await expect(pool.run(command('refuse'), me)).rejects.toMatchObject({
      kind: 'refused',
      reason: 'it is broken',
    });
    expect(await pool.run(command('echo', 2), me)).toMatchObject({ bytes: [2] });
  });

  it('runs the only job of an account before the many that another one has waiting', async () => {
    const pool = poolOf({ queueLimit: 100 });
    const order: string[] = [];
    const run = async (account: string): Promise<void> => {
      await pool.run(command('echo'), { account });
      order.push(account);
    };
    await Promise.all([...Array.from({ length: 20 }, () => run('many')), run('one')]);
    expect(order.indexOf('one')).toBeLessThan(3);
  });

  it('rejects a job at once if all threads are busy and the queue is full', async () => {
    const pool = poolOf({ queueLimit: 1 });
    const leaving = new AbortController();
    const taken = Promise.allSettled([
      pool.run(command('spin'), { ...me, signal: leaving.signal }),
      pool.run(command('echo'), me),
    ]);
    await expect(pool.run(command('echo'), me)).rejects.toMatchObject({ kind: 'busy' });
    leaving.abort();
    expect((await taken).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('rejects a job that has waited for as long as a job may run', async () => {
    const pool = poolOf({ timeoutMs: 500 });
    const jobs = await Promise.allSettled(Array.from({ length: 3 }, () => pool.run(command('spin'), me)));
    const [first, ...waiting] = jobs.map((job) =>
      job.status === 'rejected' ? kindOf(job.reason) : job.status,
    );
    expect(first).toBe('timeout');
    // The thread may become free just before the waiting ends, for one of them.
    expect(waiting).toContain('busy');
    expect(['busy', 'timeout']).toEqual(expect.arrayContaining(waiting));
  });

  it('ends a waiting and a running job when its caller aborts', async () => {
    const pool = poolOf();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const jobs = Promise.allSettled([
      pool.run(command('spin'), { ...me, signal: running.signal }),
      pool.run(command('echo'), { ...me, signal: waiting.signal }),
      pool.run(command('echo', 3), me),
    ]);
    waiting.abort(new Error('left the queue'));
    running.abort(new Error('left'));
    expect(await jobs).toMatchObject([
      { reason: { message: 'left' } },
      { reason: { message: 'left the queue' } },
      { value: { bytes: [3] } },
    ]);
    await expect(
      pool.run(command('echo'), { ...me, signal: AbortSignal.abort(new Error('gone')) }),
    ).rejects.toThrow('gone');
  });

  it('ends an idle thread that holds much memory, and keeps one that does not', async () => {
    const pool = poolOf({ buffersLimitMb: 512 });
    const threadOf = async (what: Command['what']): Promise<number> =>
      ((await pool.run(command(what), me)) as { threadId: number }).threadId;
    const first = await threadOf('keep');
    await expect.poll(() => threadOf('echo'), { timeout: 20_000, interval: 100 }).not.toBe(first);
    const second = await threadOf('echo');
    await sleep(3_000);
    expect(await threadOf('echo')).toBe(second);
  });

  it('hides the process environment from threads', async () => {
    expect(await poolOf().run(command('env'), me)).toEqual([]);
  });

  it('ends all threads on close; running, waiting and later jobs fail', async () => {
    const pool = poolOf();
    const jobs = Promise.allSettled([pool.run(command('spin'), me), pool.run(command('echo'), me)]);
    await pool.close();
    expect(await jobs).toMatchObject([{ reason: { kind: 'closed' } }, { reason: { kind: 'closed' } }]);
    await expect(pool.run(command('echo'), me)).rejects.toMatchObject({ kind: 'closed' });
  });
});
