import { DeadlineExceeded } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyedQueue } from '../src/records/keyed-queue.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new Promise<never>(() => undefined);

/** Advances the timers and runs what is due. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('the queue', () => {
  it('runs entries of one name one after another, and those of different names in parallel', async () => {
    const queue = new KeyedQueue();
    const seen: string[] = [];
    const run = (name: string, what: string) =>
      queue.run(name, async () => {
        seen.push(`${what} begins`);
        await pass(0);
        seen.push(`${what} ends`);
      });
    const runs = [run('a', 'first'), run('a', 'second'), run('b', 'other')];
    await Promise.all(runs);
    expect(seen.filter((each) => !each.startsWith('other'))).toEqual([
      'first begins',
      'first ends',
      'second begins',
      'second ends',
    ]);
    expect(seen.indexOf('other begins')).toBeLessThan(seen.indexOf('first ends'));
  });

  it('continues after a failed entry', async () => {
    const queue = new KeyedQueue();
    const failed = queue.run('a', () => Promise.reject(new Error('no')));
    const next = queue.run('a', () => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  it('rejects an entry that waits too long, and lets no other overtake the running one', async () => {
    const queue = new KeyedQueue();
    void queue.run('a', () => never);
    const [late] = await Promise.all([
      queue.run('a', () => Promise.resolve()).catch((error: unknown) => error),
      pass(10_001),
    ]);
    expect(late).toBeInstanceOf(DeadlineExceeded);
    let hasPassed = false;
    const behind = queue.run('a', () => {
      hasPassed = true;
      return Promise.resolve();
    });
    await Promise.all([behind.catch(() => undefined), pass(10_001)]);
    expect(hasPassed).toBe(false);
  });
});
