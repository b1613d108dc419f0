import { StartFault } from '@svc/runtime';
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { whenReachable } from './reachable.js';

const url = 'postgres://svc:secret@db.example:5432/svc';

/** Work that fails with this error until the given attempt. */
function failing(error: Error, until: number): { work: () => Promise<number>; attempts: () => number } {
  let attempt = 0;
  const work = async (): Promise<number> => {
    attempt += 1;
    if (attempt < until) throw error;
    return attempt;
  };
  return { work, attempts: () => attempt };
}

const fromServer = (code: string): Error =>
  Object.assign(new DatabaseError('it says no', 0, 'error'), { code });

describe('whenReachable', () => {
  it.each([
    new Error('Connection terminated due to connection timeout'),
    new Error('The service is not available', { cause: new Error('timeout expired') }),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    new AggregateError([Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })]),
    fromServer('57P03'),
  ])('repeats work that fails because the database is unreachable: %s', async (error) => {
    const logged: string[] = [];
    const logger = { info: () => undefined, warn: (line: string) => void logged.push(line) };
    expect(await whenReachable({ url, waitMs: 60_000, logger }, failing(error, 3).work)).toBe(3);
    expect(logged).toEqual([
      expect.stringMatching(/^The database at db\.example:5432 cannot be reached yet/),
    ]);
    expect(logged.join()).not.toContain('secret');
  });

  it('throws any other failure at once', async () => {
    for (const error of [fromServer('28P01'), new TypeError('a bug'), new StartFault('no')]) {
      const { work, attempts } = failing(error, 3);
      await expect(whenReachable({ url, waitMs: 60_000 }, work)).rejects.toBe(error);
      expect(attempts()).toBe(1);
    }
  });

  it("gives up after the deadline, and reports the last attempt's error", async () => {
    const { work } = failing(new Error('timeout expired'), Number.POSITIVE_INFINITY);
    const fault = await whenReachable({ url, waitMs: 1 }, work).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StartFault);
    expect(String(fault)).toContain('db.example:5432 could not be reached within 0.001 s: timeout expired');
  });
});
