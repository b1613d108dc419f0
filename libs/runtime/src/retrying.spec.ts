import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { retrying } from './retrying.js';

const fail = (): Promise<never> => Promise.reject(new Error('down'));

/** Work that fails the given number of times, and then returns the number of attempts. */
function failing(times: number): () => Promise<number> {
  let attempts = 0;
  return () => ((attempts += 1) > times ? Promise.resolve(attempts) : fail());
}

describe('retrying', () => {
  it('doubles the delay up to the longest one, until an attempt succeeds', async () => {
    const delays: number[] = [];
    const onFailure = (_error: unknown, retryMs: number): number => delays.push(retryMs);
    const result = retrying(failing(5), { firstMs: 1, lastMs: 10, deadlineMs: 60_000, onFailure });
    expect(await result).toBe(6);
    expect(delays).toEqual([1, 2, 4, 8, 10]);
  });

  it('rejects with the error of the last attempt', async () => {
    const work = vi.fn(fail);
    const onFailure = vi.fn();
    const result = retrying(work, { firstMs: 1, lastMs: 1, attempts: 3, onFailure });
    await expect(result).rejects.toThrow('down');
    expect(work).toHaveBeenCalledTimes(3);
    expect(onFailure).toHaveBeenCalledTimes(3);
  });

  it('does not wait for an attempt that would start after the deadline', async () => {
    const work = vi.fn(fail);
    const result = retrying(work, { firstMs: 600_000, lastMs: 600_000, deadlineMs: 300_000 });
    await expect(result).rejects.toThrow('down');
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('rejects at once if another attempt would be useless, also if that changes during a delay', async () => {
    const now = vi.fn(fail);
    await expect(retrying(now, { firstMs: 600_000, lastMs: 600_000, isFinal: () => true })).rejects.toThrow(
      'down',
    );
    expect(now).toHaveBeenCalledTimes(1);

    const later = vi.fn(fail);
    const isFinal = vi.fn().mockReturnValueOnce(false).mockReturnValueOnce(true);
    await expect(retrying(later, { firstMs: 1, lastMs: 1, isFinal })).rejects.toThrow('down');
    expect(later).toHaveBeenCalledTimes(1);
  });

  it('ends a delay when it is aborted, and leaves no listener on the signal', async () => {
    const stop = new AbortController();
    const work = vi.fn(fail);
    const onFailure = (): unknown => setImmediate(() => stop.abort());
    const result = retrying(work, { firstMs: 600_000, lastMs: 600_000, signal: stop.signal, onFailure });
    await expect(result).rejects.toMatchObject({ name: 'AbortError' });
    expect(work).toHaveBeenCalledTimes(1);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('draws random delays up to the full one', async () => {
    const delays: number[] = [];
    const onFailure = (_error: unknown, retryMs: number): number => delays.push(retryMs);
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.25);
    await retrying(failing(3), { firstMs: 4, lastMs: 8, attempts: 9, isRandom: true, onFailure });
    random.mockRestore();
    expect(delays).toEqual([1, 2, 2]);
  });
});
