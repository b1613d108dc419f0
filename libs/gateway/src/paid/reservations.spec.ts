import { type Admission, type Caller, type Hold, type Ledger, type Limiter, Problem } from '@svc/contracts';
import { createLogger } from '@svc/runtime';
import { expect, it } from 'vitest';
import type { GatewaySettings } from '../gateway.config.js';
import type { BackgroundWork } from '../http/background-work.js';
import type { LimitGate } from '../limits/limit-gate.js';
import type { ChatPlan } from '../request/chat-plan.js';
import { Reservations } from './reservations.js';

const plan = {
  model: { id: 'm', rates: { inputNano: 0n, outputNano: 1n, cacheInputNano: 0n, cacheWriteNano: 0n } },
  promptTokens: 0,
  choices: 1,
  outputTokensAtMost: 100,
  stream: true,
} as ChatPlan;
const refused = new Problem('RATE_LIMIT_EXCEEDED');
const short = new Problem('INSUFFICIENT_BALANCE');
const balances = { usdNano: 0n, diemNano: 0n };

/** Reservations with a limiter and ledger that admit or hold as given, and fail to release. */
function reserving(given: { admitted: boolean; holds: boolean }) {
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
        requests: { limit: 1, remaining: 0 },
        tokens: { limit: 1, remaining: 0 },
        resetAtMs: 0,
        type: 'user',
      }),
    release: unreachable('limits'),
  };
  const ledger = {
    hold: () => (given.holds ? Promise.resolve(hold) : Promise.reject(short)),
    release: unreachable('hold'),
  };
  const limits = { request: () => ({}), refusal: () => refused } as unknown as LimitGate;
  const reservations = new Reservations(
    limits,
    limiter as unknown as Limiter,
    ledger as unknown as Ledger,
    {} as BackgroundWork,
    { config: { GATEWAY_TRANCHE_TOKENS: 64 } } as GatewaySettings,
    { log: createLogger('silent') },
  );
  return { asked, making: reservations.make({ requestId: 'r', caller: {} as Caller, headers: {} }, plan) };
}

it.each([
  [{ admitted: false, holds: true }, refused, ['hold']],
  [{ admitted: true, holds: false }, short, ['limits']],
])('throws the original refusal even if the release fails: %j', async (given, problem, asks) => {
  const { asked, making } = reserving(given);
  await expect(making).rejects.toBe(problem);
  expect(asked).toEqual(asks);
});
