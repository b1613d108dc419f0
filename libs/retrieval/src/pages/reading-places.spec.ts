import { describe, expect, it } from 'vitest';
import { ReadingPlaces } from './reading-places.js';

const never = new AbortController().signal;

describe('ReadingPlaces', () => {
  /** Work that ends on demand, and the order in which it began. */
  function worker(places: ReadingPlaces) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const start = (account: string, signal = never): Promise<void> =>
      places.take(account, signal, () => {
        begun.push(account);
        return new Promise<void>((resolve) => void ends.push(resolve));
      });
    const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
    return { begun, ends, start, settle };
  }

  it('runs a limited number at once, and accounts take turns', async () => {
    const { begun, ends, start, settle } = worker(new ReadingPlaces(2, 10));
    const all = ['a', 'a', 'a', 'a', 'b'].map((account) => start(account));
    await settle();
    expect(begun).toEqual(['a', 'a']);
    ends.shift()?.();
    await settle();
    expect(begun).toEqual(['a', 'a', 'b']);
    while (begun.length < 5 || ends.length > 0) {
      ends.shift()?.();
      await settle();
    }
    await Promise.all(all);
  });

  it('rejects the newest of the account with the most waiting when the queue is full', async () => {
    const { begun, ends, start, settle } = worker(new ReadingPlaces(1, 2));
    const [first, second, third] = [start('a'), start('a'), start('a')];
    const other = start('b');
    await expect(third).rejects.toMatchObject({ reason: 'too many pages are being read' });
    await settle();
    for (let round = 0; round < 3; round += 1) {
      ends.shift()?.();
      await settle();
    }
    await Promise.all([first, second, other]);
    expect(begun.toSorted()).toEqual(['a', 'a', 'b']);
  });

  it('drops aborted waiters, and frees the slots of failed work', async () => {
    const places = new ReadingPlaces(1, 2);
    const { ends, start, settle, begun } = worker(places);
    const first = start('a');
    const leaving = new AbortController();
    const second = start('b', leaving.signal);
    await settle();
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    ends.shift()?.();
    await first;
    const failing = places.take('c', never, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    const last = start('d');
    await settle();
    ends.shift()?.();
    await last;
    expect(begun).toEqual(['a', 'd']);
  });
});
