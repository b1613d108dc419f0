import {
  type Admission,
  type Caller,
  type Hold,
  type Ledger,
  type Limiter,
  Problem,
  perMinute,
} from '@svc/contracts';
import { createLogger } from '@svc/runtime';
import { expect, it } from 'vitest';
import type { BackgroundWork } from '../http/background-work.js';
import type { LimitGate } from '../limits/limit-gate.js';
import type { PaymentDemands } from '../wallets/payment-demands.js';
import type { PaidOperation } from './paid-operation.js';
import { PaidOperations } from './paid-operations.js';

const operation: PaidOperation = {
  name: 'm',
  resource: { kind: 'model', name: 'm' },
  limits: perMinute('user', { requestsPerMinute: 1, tokensPerMinute: 1 }),
  amounts: { tokens: 1 },
  hold: { amountNano: 1n },
};
const refused = new Problem('RATE_LIMIT_EXCEEDED');
const short = new Problem('INSUFFICIENT_BALANCE');
const balances = { usdNano: 0n, diemNano: 0n };

/** Begins an operation with a limiter and ledger that admit or hold as given, and fail to release. */
function beginning(given: { admitted: boolean; holds: boolean }) {
  const asked: string[] = [];
  const unreachable = (what: string) => (): Promise<never> => {
    asked.push(what);
    return Promise.reject(new Problem('UNAVAILABLE'));
  };
  const hold = { amount: balances, before: balances } as Hold;
  const limiter = {
    admit: () =>
      Promise.resolve<Admission>({
        admitted: given.admitted,
        tightest: {},
        endsAtMs: [],
        scope: 'user',
      }),
    release: unreachable('limits'),
  };
  const ledger = {
    hold: () => (given.holds ? Promise.resolve(hold) : Promise.reject(short)),
    release: unreachable('hold'),
  };
  const limits = { request: () => ({}), refusal: () => refused } as unknown as LimitGate;
  const paid = new PaidOperations(
    limits,
    limiter as unknown as Limiter,
    ledger as unknown as Ledger,
    {} as BackgroundWork,
    {} as PaymentDemands,
    { log: createLogger('silent') },
  );
  return { asked, begun: paid.begin(operation, { requestId: 'r', caller: {} as Caller }) };
}

it.each([
  [{ admitted: false, holds: true }, refused, ['hold']],
  [{ admitted: true, holds: false }, short, ['limits']],
])('returns the original refusal even if the release fails: %j', async (given, problem, asks) => {
  const { asked, begun } = beginning(given);
  expect(await begun).toHaveProperty('refusal', problem);
  expect(asked).toEqual(asks);
});
