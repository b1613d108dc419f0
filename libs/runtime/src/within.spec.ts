import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DeadlineExceeded, within } from './within.js';

const never = new Promise<never>(() => undefined);

describe('within', () => {
  it('settles like the work if it ends in time', async () => {
    expect(await within(60_000, Promise.resolve(7))).toBe(7);
    await expect(within(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects after the deadline, with the given error', async () => {
    await expect(within(5, never)).rejects.toBeInstanceOf(DeadlineExceeded);
    await expect(within(5, never, () => new TypeError('late'))).rejects.toBeInstanceOf(TypeError);
  });

  it('leaves no timer behind', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    await Promise.all(Array.from({ length: 20 }, () => within(60_000, Promise.resolve())));
    expect(timers()).toBe(before);
  });

  it('accepts a result that arrived while the event loop was blocked beyond the deadline', async () => {
    const answered = new Promise((resolve) => setImmediate(resolve, 'in time'));
    const result = within(20, answered);
    const end = performance.now() + 60;
    while (performance.now() < end);
    expect(await result).toBe('in time');
  });

  it('handles a rejection of abandoned work, so that it does not end the process', async () => {
    const late = Promise.withResolvers<never>();
    await expect(within(1, late.promise)).rejects.toBeInstanceOf(DeadlineExceeded);
    late.reject(new Error('late'));
    await sleep(20);
  });
});
