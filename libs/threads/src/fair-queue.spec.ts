import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.js';

const task = (account: string, name: number) => ({ account, name });
const many = (account: string, count: number) =>
  Array.from({ length: count }, (_, index) => task(account, index));

function queueOf(...tasks: { account: string; name: number }[]) {
  const queue = new FairQueue<{ account: string; name: number }>();
  for (const each of tasks) queue.push(each, 100);
  return queue;
}

describe('FairQueue', () => {
  it('keeps the order of each account', () => {
    const queue = queueOf(...many('a', 3));
    expect([queue.shift()?.name, queue.shift()?.name, queue.shift()?.name, queue.shift()]).toEqual([
      0,
      1,
      2,
      undefined,
    ]);
  });

  it('prefers the account with the fewest running tasks, however many another one has waiting', () => {
    const queue = queueOf(...many('a', 50));
    queue.shift();
    queue.shift();
    queue.push(task('b', 0), 100);
    expect(queue.shift()).toEqual(task('b', 0));
  });

  it('alternates between accounts', () => {
    const queue = queueOf(...many('a', 3), ...many('b', 3));
    const order: string[] = [];
    for (let next = queue.shift(); next; next = queue.shift()) {
      order.push(next.account);
      queue.done(next);
    }
    expect(order.join('')).toBe('ababab');
  });

  it('drops the newest task of the account with the most when it is full', () => {
    const queue = queueOf(...many('a', 3));
    expect(queue.push(task('b', 0), 3)).toEqual(task('a', 2));
    expect(queue.push(task('a', 9), 3)).toEqual(task('a', 9));
    expect(queue.size).toBe(3);
  });

  it('forgets removed tasks', () => {
    const [first, second] = many('a', 2);
    const queue = queueOf(...(first && second ? [first, second] : []));
    expect(first && queue.remove(first)).toBe(true);
    expect(first && queue.remove(first)).toBe(false);
    expect([queue.size, queue.shift(), queue.size]).toEqual([1, second, 0]);
  });
});
