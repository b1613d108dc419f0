import { inspect } from 'node:util';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { repeats } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Plan, planOf } from './history-steps.js';
import { HistoryFixture, type Played } from './history-fixture.js';
import { type RunningLedger, startLedger } from './testing.js';

const { env } = process;
const SEED = Number(env['SEED'] ?? Date.now() % 2 ** 31);
const HISTORIES = repeats('HISTORIES');
/** The number of a history to run alone. */
const ONLY = env['HISTORY'];
/** Parallel histories. */
const AT_ONCE = 500;
/** Histories per database, so that the last ones are as fast as the first. */
const TOGETHER = 10_000;
/** A deadline long enough that this machine's speed decides nothing. */
const DATABASE_MS = 3_600_000;
/** With this many histories, every kind of event must have occurred. */
const TELLING = 1_000;

let database: TestDatabase;
let running: RunningLedger;
let fixture: HistoryFixture;

beforeEach(async () => {
  database = await startTestDatabase();
  const url = new URL(database.url);
  // A crash is only simulated; the server keeps running.
  url.searchParams.set('options', '-c synchronous_commit=off');
  const config = {
    LEDGER_HOLD_LEASE_MS: 600_000,
    LEDGER_START_WAIT_MS: DATABASE_MS,
  };
  running = await startLedger({ url: url.href, consume: false, config });
  fixture = new HistoryFixture(running);
});

afterEach(async () => {
  await running.stop();
  await database.stop();
});

/** Runs a history alone, several times, because two parallel posters may run in either order. */
async function failing(plan: Plan): Promise<Played | undefined> {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const [played] = await fixture.play([plan]);
    if (played?.failure !== undefined) return played;
  }
  return undefined;
}

/** Removes steps that the failure does not need, within a few hundred tries. */
async function shrink(plan: Plan, failed: Played): Promise<Played> {
  let best = failed;
  let { steps } = plan;
  for (let size = 8; size >= 1; size = Math.floor(size / 2)) {
    for (let at = steps.length - size; at >= 0; at -= size) {
      const fewer = steps.filter((_, index) => index < at || index >= at + size);
      const played = await failing({ ...plan, steps: fewer });
      if (!played) continue;
      best = played;
      steps = fewer;
    }
  }
  return best;
}

async function report(number: number, failed: Played): Promise<string> {
  const { plan, failure, steps } = await shrink(failed.plan, failed);
  return [
    `History ${number} of seed ${SEED} fails: SEED=${SEED} HISTORY=${number} npm run test:histories`,
    `Its step ${steps} is too much: ${inspect(failure)}`,
    JSON.stringify({ ...plan, steps: undefined }),
    ...plan.steps.map((step, index) => `${index + 1}. ${JSON.stringify(step)}`),
  ].join('\n');
}

/** For an error that stops all histories at once, finds one history that fails alone too. */
async function tellWhich(numbers: readonly number[], error: unknown): Promise<never> {
  for (const number of numbers) {
    fixture = new HistoryFixture(running);
    try {
      await fixture.play([planOf(SEED, number)]);
    } catch (cause) {
      throw new Error(`History ${number} of seed ${SEED} stops its fixture.`, { cause });
    }
  }
  throw error;
}

async function play(numbers: readonly number[]): Promise<void> {
  const played = await fixture
    .play(numbers.map((number) => planOf(SEED, number)))
    .catch((error: unknown) => tellWhich(numbers, error));
  const failed = played.findIndex(({ failure }) => failure !== undefined);
  const first = played[failed];
  if (first) throw new Error(await report(numbers[failed] ?? 0, first));
}

/** Events that must occur at least once in `TELLING` histories, or the test would prove little. */
const HAPPENS = [
  'a crash',
  'a crash before the book was updated',
  'a posting before its settle',
  'a write-off',
  'extend',
  'extend a lapsed hold',
  'extend a lapsed hold: INSUFFICIENT_BALANCE',
  'extend: API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
  'extend: API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'extend: INSUFFICIENT_BALANCE',
  'hold',
  'hold: API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
  'hold: API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'hold: INSUFFICIENT_BALANCE',
  'a day is set while requests hold',
  'refund',
  'renew a lapsed hold',
  'settle a lapsed hold',
  'settle what is posted',
];
/** Depends on timing or on coincidences; must occur in ten times as many histories. */
const HAPPENS_RARELY = ['taken before a posting has arrived'];

const starts =
  ONLY === undefined ? Array.from({ length: Math.ceil(HISTORIES / TOGETHER) }, (_, at) => at * TOGETHER) : [];

describe(`random histories of the ledger (seed ${SEED})`, () => {
  it.runIf(ONLY !== undefined)(`matches the model in history ${ONLY}`, async () => {
    await play([Number(ONLY)]);
    await expect(fixture.audit()).resolves.toMatchObject({ ok: true, mismatches: [] });
  });

  it.each(starts)(
    'matches the model and proves its books, from history %i on',
    async (start) => {
      const end = Math.min(HISTORIES, start + TOGETHER);
      for (let first = start; first < end; first += AT_ONCE)
        await play(Array.from({ length: Math.min(AT_ONCE, end - first) }, (_, at) => first + at));
      await expect(fixture.audit()).resolves.toMatchObject({ ok: true, mismatches: [] });
      const expected = [
        ...(end - start >= TELLING ? HAPPENS : []),
        ...(end - start >= 10 * TELLING ? HAPPENS_RARELY : []),
      ];
      expect(expected.filter((what) => !fixture.happened.has(what))).toEqual([]);
    },
    DATABASE_MS,
  );
});
