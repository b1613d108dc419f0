import { repeats } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { AnvilWorld } from './anvil-world.js';
import { HistoryStage, ONLY, SEED } from './history-stage.js';

const HISTORIES = repeats('ANVIL_HISTORIES');

/** Histories per chain; then a new chain is started, because anvil gets slower with each block. */
const ON_ONE_CHAIN = 20;

const STAGES = ONLY === undefined ? Math.ceil(HISTORIES / ON_ONE_CHAIN) : 1;

describe(`random histories of payments on a real chain (seed ${SEED})`, () => {
  it('credit each payment once or never, and the books equal the chain', async () => {
    const stages: HistoryStage[] = [];
    for (let number = 0; number < STAGES; number += 1) {
      const stage = await HistoryStage.start(() => AnvilWorld.start());
      stages.push(stage);
      try {
        await stage.play(Math.min(ON_ONE_CHAIN, HISTORIES), SEED + number);
        expect(await stage.faults()).toEqual([]);
      } finally {
        await stage.stop();
      }
    }
    expect(HistoryStage.missing(stages, HISTORIES)).toEqual([]);
  }, 7_200_000);
});
