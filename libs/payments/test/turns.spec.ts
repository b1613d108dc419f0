import { DeadlineExceeded } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Turns } from '../src/records/turns.js';

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
    const turns = new Turns();
    const seen: string[] = [];
    const take = (name: string, what: string) =>
      turns.take(name, async () => {
        seen.push(`${what} begins`);
        await pass(0);
        seen.push(`${what} ends`);
      });
    const taken = [take('a', 'first'), take('a', 'second'), take('b', 'other')];
    await Promise.all(taken);
    expect(seen.filter((each) => !each.startsWith('other'))).toEqual([
      'first begins',
      'first ends',
      'second begins',
      'second ends',
    ]);
    expect(seen.indexOf('other begins')).toBeLessThan(seen.indexOf('first ends'));
  });

  it('continues after a failed entry', async () => {
    const turns = new Turns();
    const failed = turns.take('a', () => Promise.reject(new Error('no')));
    const next = turns.take('a', () => Promise.resolve('next'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  it('rejects an entry that waits too long, and lets no other overtake the running one', async () => {
    const turns = new Turns();
    void turns.take('a', () => never);
    const [late] = await Promise.all([
      turns.take('a', () => Promise.resolve()).catch((error: unknown) => error),
      pass(10_001),
    ]);
    expect(late).toBeInstanceOf(DeadlineExceeded);
    let hasPassed = false;
    const behind = turns.take('a', () => {
      hasPassed = true;
      return Promise.resolve();
    });
    await Promise.all([behind.catch(() => undefined), pass(10_001)]);
    expect(hasPassed).toBe(false);
  });
});
