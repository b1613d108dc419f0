import { isLong, repeats } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryStage, ONLY, SEED } from './history-stage.js';
import { SimulatedWorld } from './simulated-world.js';

const HISTORIES = repeats('PAYMENT_HISTORIES');

/** In the long form several run in parallel, since a history mostly waits for its database. */
const STAGES = isLong && ONLY === undefined ? 4 : 1;

let stages: readonly HistoryStage[] = [];

beforeEach(async () => {
  stages = await Promise.all(
    Array.from({ length: STAGES }, () => HistoryStage.start(() => new SimulatedWorld())),
  );
});

afterEach(async () => {
  for (const stage of stages) await stage.stop();
});

describe(`random histories of payments (seed ${SEED})`, () => {
  it('credit each payment once or never, and the books equal the chain', async () => {
    const count = Math.ceil(HISTORIES / STAGES);
    const played = await Promise.allSettled(stages.map((stage, number) => stage.play(count, SEED + number)));
    const failed = played.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    for (const stage of stages) expect(await stage.faults()).toEqual([]);
    expect(HistoryStage.missing(stages, HISTORIES)).toEqual([]);
  }, 1_200_000);
});
