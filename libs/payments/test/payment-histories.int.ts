import { isLong, repeats } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryHarness, ONLY, SEED } from './history-harness.js';
import { SimulatedHarness } from './simulated-harness.js';

const HISTORIES = repeats('PAYMENT_HISTORIES');

/** In the long form several run in parallel, since a history mostly waits for its database. */
const HARNESSES = isLong && ONLY === undefined ? 4 : 1;

let harnesses: readonly HistoryHarness[] = [];

beforeEach(async () => {
  harnesses = await Promise.all(
    Array.from({ length: HARNESSES }, () => HistoryHarness.start(() => new SimulatedHarness())),
  );
});

afterEach(async () => {
  for (const harness of harnesses) await harness.stop();
});

describe(`random histories of payments (seed ${SEED})`, () => {
  it('credit each payment once or never, and the books equal the chain', async () => {
    const count = Math.ceil(HISTORIES / HARNESSES);
    const results = await Promise.allSettled(
      harnesses.map((harness, number) => harness.run(count, SEED + number)),
    );
    const failed = results.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    for (const harness of harnesses) expect(await harness.faults()).toEqual([]);
    expect(HistoryHarness.missing(harnesses, HISTORIES)).toEqual([]);
  }, 1_200_000);
});
