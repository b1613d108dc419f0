import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Load } from '../fault/load.js';
import { MAIN } from '../own-env.js';
import { type Payer, faultsLeft, openPayers } from '../payers.js';
import { Platform } from '../platform.js';
import { Random } from '../random.js';
import { eventually } from '../response-bodies.js';
import { BUILD_MS, lastRelease } from './last-release.js';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CLIENTS = 8;
const STEP = { timeout: 5 * 60_000 };

let platform: Platform;
let payers: [Payer, ...Payer[]];
let lastMain: string;

beforeAll(async () => {
  lastMain = join(await lastRelease(), 'apps/all/dist/main.js');
  platform = await Platform.start({ hasOwnProcess: true, isFirstStart: true, main: lastMain });
  payers = await openPayers(platform);
}, BUILD_MS + 120_000);

afterAll(() => platform?.stop(), 60_000);

const seen = (): number => payers.reduce((sum, { reconciliation }) => sum + reconciliation.ended.size, 0);

/** Ends the process under load, and starts this one on its data; returns what is wrong with the books. */
async function faultsAfter(end: () => Promise<unknown>, main: string): Promise<string[]> {
  const random = new Random(SEED + payers.length);
  const load = new Load(platform, payers, { random, clients: CLIENTS, name: `upgrade-${seen()}` });
  const before = seen();
  await eventually('requests are served', () => seen() > before + 2 * CLIENTS);
  const ended = end();
  await load.end();
  await ended;
  await platform.restart(main);
  return [...load.hung.map((kind) => `a ${kind} hung`), ...(await faultsLeft(platform, payers))];
}

const stop = (): Promise<unknown> => platform.service.stop();
const kill = (): Promise<unknown> => platform.kill();

describe(`one process of the last release under load, each of whose responses is charged once and to the nano-dollar (SEED=${SEED})`, () => {
  it.each([
    ['is upgraded after SIGTERM', stop, () => MAIN],
    ['is rolled back after SIGTERM, on the newer tables', stop, () => lastMain],
    ['is upgraded after kill -9', kill, () => MAIN],
    ['is rolled back after kill -9', kill, () => lastMain],
    ['is upgraded again', stop, () => MAIN],
  ])('%s', STEP, async (_what, end, main) => {
    expect(await faultsAfter(end, main())).toEqual([]);
  });
});
