import { repeats } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AnvilWorld } from './anvil-world.js';
import { HistoryStage, SEED } from './history-stage.js';

const HISTORIES = repeats('ANVIL_HISTORIES');

let stage: HistoryStage | undefined;

beforeEach(async () => {
  stage = await HistoryStage.start(await AnvilWorld.start());
});

afterEach(async () => {
  await stage?.stop();
});

describe(`histories of payments on a real chain (seed ${SEED})`, () => {
  it('credits each payment once or never, and the books equal the chain', async () => {
    if (!stage) throw new Error('there is a stage');
    await stage.play(HISTORIES, SEED);
    expect(await stage.faults()).toEqual([]);
    expect(HistoryStage.missing([stage], HISTORIES)).toEqual([]);
  }, 7_200_000);
});
