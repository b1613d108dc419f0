import { setTimeout as sleep } from 'node:timers/promises';
import type { Hold } from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import type { HoldMarks } from './hold-marks.js';
import type { HoldSteps } from './hold-steps.js';
import { RedisHoldBook } from './redis-hold-book.js';

const hold = (accountId: string): Hold => {
  const none = { usdNano: 0n, diemNano: 0n };
  return { requestId: accountId, accountId, keyId: 'k', amount: none, before: none };
};

it('a renewal in which one account fails ends only after those of the others', async () => {
  const renewed: string[] = [];
  // A cluster with one node unavailable and the other slow.
  const steps = {
    take: async (_step: string, accountId: string) => {
      if (accountId === 'away') throw new Error('its node is away');
      await sleep(20);
      renewed.push(accountId);
      return ['renewed', 'renewed'];
    },
  } as unknown as HoldSteps;
  const never = (): Promise<never> => Promise.reject(new Error('nothing is read'));
  const reads = { balances: never, spentOf: never };
  const parts = { reads, marks: {} as HoldMarks, log: { error: () => undefined } };
  const book = new RedisHoldBook(steps, parts, { leaseMs: 60_000, maxHolds: 10, waitMs: 1_000 });
  await expect(book.renew([hold('away'), hold('near')])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(renewed).toEqual(['near']);
});
