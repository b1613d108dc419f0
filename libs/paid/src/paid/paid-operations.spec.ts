import { EventEmitter } from 'node:events';
import {
  type Admission,
  type AdmitRequest,
  type Caller,
  type Hold,
  type Ledger,
  type Limiter,
  perMinute,
} from '@svc/contracts/ports';
import { type Charge, chargeLine } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { type WorkUnderWay, createLogger } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { BackgroundWork } from '../http/background-work.js';
import type { LimitGate } from '../limits/limit-gate.js';
import type { RepeatedRequests } from '../repeats/repeated-requests.js';
import type { PaymentDemands } from '@svc/identity/wallets';
import type { PaidOperation } from './paid-operation.js';
import { type HttpPair, PaidOperations } from './paid-operations.js';

const operation: PaidOperation = {
  sale: {
    name: 'm',
    resource: { kind: 'route', name: 'm' },
    limits: perMinute('user', { requestsPerMinute: 1, tokensPerMinute: 1 }),
  },
  amounts: { tokens: 1 },
  hold: { amountNano: 1n },
};
const admitRequest: AdmitRequest = {
  requestId: 'r',
  accountId: 'a',
  keyId: 'k',
  subject: 'key:k',
  ...operation.sale,
  ...operation,
};
const refused = new Problem('RATE_LIMIT_EXCEEDED');
const short = new Problem('INSUFFICIENT_BALANCE');
const balances = { usdNano: 0n, diemNano: 0n };

/** Begins an operation with a limiter and ledger that admit or hold as given, and fail to release. */
const NO_REPEATS = { find: () => undefined } as unknown as RepeatedRequests;

function beginning(given: { admitted: boolean; holds: boolean }) {
  const released: string[] = [];
  const unreachable = (what: string) => (): Promise<never> => {
    released.push(what);
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
  const limits = { request: () => admitRequest, refusal: () => refused } as unknown as LimitGate;
  const paid = new PaidOperations(
    limits,
    limiter as unknown as Limiter,
    ledger as unknown as Ledger,
    {} as BackgroundWork,
    {} as PaymentDemands,
    NO_REPEATS,
    { log: createLogger('silent') },
  );
  return { released, begun: paid.begin(operation, { requestId: 'r', caller: {} as Caller }) };
}

it.each([
  [{ admitted: false, holds: true }, refused, ['hold']],
  [{ admitted: true, holds: false }, short, ['limits']],
])('returns the original refusal even if the release fails: %j', async (given, problem, asks) => {
  const { released, begun } = beginning(given);
  expect(await begun).toHaveProperty('refusal', problem);
  expect(released).toEqual(asks);
});

/** Runs an operation whose client disconnects before it ends, and returns what was charged. */
async function chargedAfter(end: (signal: AbortSignal) => void) {
  const charges: Charge[] = [];
  let isReleased = false;
  const admission: Admission = { admitted: true, tightest: {}, endsAtMs: [], scope: 'user' };
  const amount = { usdNano: 1n, diemNano: 0n };
  const limiter = { admit: () => Promise.resolve(admission), settle: () => Promise.resolve() };
  const ledger = {
    hold: () => Promise.resolve({ amount, before: amount } as Hold),
    settle: (_hold: Hold, charge: Charge) => Promise.resolve(void charges.push(charge)),
    release: () => {
      isReleased = true;
      return Promise.resolve();
    },
  };
  const log = createLogger('silent');
  const paid = new PaidOperations(
    { request: () => admitRequest } as unknown as LimitGate,
    limiter as unknown as Limiter,
    ledger as unknown as Ledger,
    new BackgroundWork({ log }),
    { refusalFor: (_caller: Caller, error: unknown) => Promise.resolve(error) } as unknown as PaymentDemands,
    NO_REPEATS,
    { log },
  );
  const socket = new EventEmitter();
  const record: { costUsd?: string; underWay?: WorkUnderWay } = {};
  const request = { id: 'r', caller: {}, record, raw: { socket } };
  const pair = { request, reply: { headers: () => undefined } } as unknown as HttpPair;
  const line = chargeLine({ sku: 's', unit: 'request', priceNanoPerMillion: 1_000_000n }, 1);
  const perform = (_caller: Caller, signal: AbortSignal) => {
    socket.emit('close');
    end(signal);
    return Promise.resolve({ result: undefined, backend: 'b', lines: [line] });
  };
  await paid.run({ ...operation, perform }, pair).catch(() => undefined);
  await record.underWay?.over;
  return { charges: charges.length, isReleased, costUsd: record.costUsd };
}

describe('an operation whose client disconnects', () => {
  it('is charged if it has a result, and the log line shows its cost', async () => {
    const isAborted = (signal: AbortSignal): void => expect(signal.aborted).toBe(true);
    expect(await chargedAfter(isAborted)).toEqual({
      charges: 1,
      isReleased: false,
      costUsd: '0.000000001',
    });
  });

  it('costs nothing if it is aborted', async () => {
    const left = await chargedAfter((signal) => signal.throwIfAborted());
    expect(left).toEqual({ charges: 0, isReleased: true, costUsd: undefined });
  });
});
