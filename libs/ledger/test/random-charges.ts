import { randomInt } from 'node:crypto';
import type { Charge, ChargeLine } from '@svc/contracts/messages';
import { chargeOf } from './testing.js';

/** A line of a text model. */
export const line = (name: string, units: number, amountNano: bigint): ChargeLine => ({
  sku: `model-llm-${name}-mtoken`,
  unit: 'token',
  units,
  priceNanoPerMillion: 150_000_000n,
  amountNano,
});

const totalOf = (lines: readonly ChargeLine[]): bigint =>
  lines.reduce((sum, { amountNano }) => sum + amountNano, 0n);

/** Includes a month's first and last moments, and several requests at the same time. */
export const TIMES = [
  '2026-08-31T23:59:59.999Z',
  '2026-09-01T00:00:00.000Z',
  '2026-09-30T23:59:59.998Z',
  '2026-09-30T23:59:59.999Z',
  '2026-10-01T00:00:00.000Z',
  '2026-10-01T00:00:00.001Z',
  '2026-10-17T12:00:00.000Z',
  '2026-11-01T00:00:00.000Z',
];

/** A charge of some lines, paid in one currency or both, and possibly written off in part. */
export function randomCharge(accountId: string): Charge {
  const names = ['input', 'cache-input', 'cache-write', 'output'].slice(0, randomInt(1, 5));
  const lines = names.map((name) => line(name, randomInt(1, 100_000), BigInt(randomInt(0, 1_000))));
  const total = totalOf(lines);
  const diemNano = [0n, total, total / 2n, total / 3n][randomInt(4)] ?? 0n;
  const writeOffNano = randomInt(4) === 0 ? (total - diemNano) / 2n : 0n;
  const at = TIMES[randomInt(TIMES.length)] ?? '';
  const keyId = `key-${randomInt(3)}`;
  const cost = { usdNano: total - diemNano - writeOffNano, diemNano };
  return chargeOf(accountId, 0n, { lines, cost, writeOffNano, at, keyId });
}
