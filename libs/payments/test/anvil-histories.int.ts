import { repeats } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { AnvilHarness } from './anvil-harness.js';
import { HistoryHarness, ONLY, SEED } from './history-harness.js';

const HISTORIES = repeats('ANVIL_HISTORIES');

/** Histories per chain; then a new chain is started, because anvil gets slower with each block. */
const ON_ONE_CHAIN = 20;

const HARNESSES = ONLY === undefined ? Math.ceil(HISTORIES / ON_ONE_CHAIN) : 1;

describe(`random histories of payments on a real chain (seed ${SEED})`, () => {
  it('credit each payment once or never, and the books equal the chain', async () => {
    const harnesses: HistoryHarness[] = [];
    for (let number = 0; number < HARNESSES; number += 1) {
      const harness = await HistoryHarness.start(() => AnvilHarness.start());
      harnesses.push(harness);
      try {
        await harness.run(Math.min(ON_ONE_CHAIN, HISTORIES), SEED + number);
        expect(await harness.faults()).toEqual([]);
      } finally {
        await harness.stop();
      }
    }
    expect(HistoryHarness.missing(harnesses, HISTORIES)).toEqual([]);
  }, 7_200_000);
});
