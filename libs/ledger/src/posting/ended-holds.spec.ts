import { NO_MONEY } from '@svc/contracts/money';
import type { Hold, Holds } from '@svc/contracts/ports';
import type { RootLogger } from '@svc/runtime';
import { expect, it, vi } from 'vitest';
import { EndedHolds } from './ended-holds.js';

const HOLD: Hold = { requestId: 'req-1', accountId: 'a', keyId: 'k', amount: NO_MONEY, before: NO_MONEY };

const fault = new Error('the book is broken');

it.each([
  [
    'throws',
    () => {
      throw fault;
    },
  ],
  ['rejects', () => Promise.reject(fault)],
])('a charge that is durable stands if the book of holds %s: that is only logged', async (_, settle) => {
  const warn = vi.fn();
  const ended = new EndedHolds({ settle } as unknown as Holds, { log: { warn } } as unknown as RootLogger);
  ended.shrink(HOLD, NO_MONEY);
  await expect
    .poll(() => warn.mock.calls)
    .toEqual([[{ requestId: 'req-1', error: String(fault) }, 'a hold could not be ended']]);
});
