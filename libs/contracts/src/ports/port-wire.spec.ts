import { expect, it } from 'vitest';
import { z } from 'zod';
import { HOLDS_WIRE } from './ledger-wire.js';
import { LIMITS_WIRE } from './limiter-wire.js';
import { plainText } from './port-wire.js';
import * as ports from './index.js';

const ids = { requestId: 'r', accountId: 'a', keyId: 'k' };
const keyLimit = { period: 'EPOCH', usdNano: 1n } as const;
const balances = { usdNano: 2n ** 63n, diemNano: 0n };
const hold = { ...ids, amount: balances, before: balances, keyLimit };
const request = { ...ids, amountNano: 7n, atLeastNano: 0n, keyLimit };
const limit = { scope: 'api_key', unit: 'tokens', windowMs: 60_000, max: 3 } as const;
const resource = { kind: 'route', name: '/r' } as const;
const amounts = { requests: 1, tokens: 5 };
const admit = { ...ids, resource, limits: [limit], subject: 'key:\u2028"', amounts };
const tightest = { tokens: { limit: 3, remaining: 2, resetAtMs: 60_000 } };
const refusedBy = { of: 'limit', limit, resetAtMs: 60_000 } as const;
const admission = { admitted: false, refusedBy, tightest, endsAtMs: [60_000], scope: 'user' } as const;

interface Case {
  readonly wire: { readonly isPlain?: true; readonly arguments: z.ZodType; readonly result: z.ZodType };
  readonly given: unknown;
  readonly result: unknown;
}

it.each<[string, Case]>([
  ['hold', { wire: HOLDS_WIRE.hold, given: [request], result: hold }],
  ['available', { wire: HOLDS_WIRE.available, given: ['a'], result: balances }],
  ['extend', { wire: HOLDS_WIRE.extend, given: [hold, { moreNano: 3n }], result: hold }],
  ['renew', { wire: HOLDS_WIRE.renew, given: [[hold, hold]], result: undefined }],
  ['release', { wire: HOLDS_WIRE.release, given: [hold], result: undefined }],
  ['settle', { wire: HOLDS_WIRE.settle, given: [hold, balances], result: undefined }],
  ['admit', { wire: LIMITS_WIRE.admit, given: [admit], result: admission }],
  ['settle', { wire: LIMITS_WIRE.settle, given: [admit, admission, { tokens: 9 }], result: undefined }],
  ['release', { wire: LIMITS_WIRE.release, given: [admit, admission], result: undefined }],
  ['renew', { wire: LIMITS_WIRE.renew, given: [[{ requestId: 'r', accountId: 'a' }]], result: undefined }],
  ['blocked', { wire: LIMITS_WIRE.blocked, given: ['ip:1'], result: {} }],
  ['failed', { wire: LIMITS_WIRE.failed, given: ['ip:1'], result: { forMs: 4 } }],
])(
  'the arguments and result of %s are written exactly as by their codec',
  (_name, { wire, given, result }) => {
    expect(wire.isPlain).toBe(true);
    const schemas: [z.ZodType, unknown][] = [
      [wire.arguments, given],
      [wire.result, result],
    ];
    for (const [schema, value] of schemas)
      expect(JSON.parse(plainText(value))).toEqual(z.encode(schema, value) ?? null);
  },
);

/** Every schema within a value, once. */
function schemasIn(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found;
  found.add(value);
  const inner = value instanceof z.core.$ZodType ? value._zod.def : value;
  for (const each of Object.values(inner)) schemasIn(each, found);
  return found;
}

it('every wire can be written as well as read: none has a transform of one direction', () => {
  const wires = Object.entries(ports).filter(([name]) => name.endsWith('_WIRE'));
  expect(wires.length).toBeGreaterThan(5);
  const oneWay = wires.filter(([, wire]) =>
    [...schemasIn(wire)].some((one) => one instanceof z.core.$ZodType && one._zod.def.type === 'transform'),
  );
  expect(oneWay.map(([name]) => name)).toEqual([]);
});
