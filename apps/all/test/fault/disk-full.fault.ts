import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLong } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { GrownMemory, INSPECTED } from '../memory.js';
import { type Payer, faultsLeft, openPayers } from '../payers.js';
import { Platform } from '../platform.js';
import { Random } from '../random.js';
import { SmallDisk } from '../small-disk.js';
import { Load } from './load.js';

const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const CLIENTS = 12;
/** Space for the database, its logs, and the load of these tests. */
const DISK_MB = 384;
const WARM_MS = 3_000;
const FULL_MS = 6_000;
/** The database's error for a full disk, as logged by the ledger. */
const NO_SPACE = /No space left on device.*charges could not be posted/;
const TIMEOUT = { timeout: 240_000 };

const disk = isLong ? SmallDisk.mount(DISK_MB) : undefined;
if (isLong && !disk) process.stderr.write('NOT TESTED: a full disk. This process may not mount one.\n');

describe.skipIf(!disk)(`when the disk is full under load (SEED=${SEED})`, () => {
  let platform: Platform;
  let payers: [Payer, ...Payer[]];

  beforeAll(async () => {
    platform = await Platform.start({ folder: disk?.path, env: INSPECTED });
    payers = await openPayers(platform);
    await Promise.all(payers.map(({ reconciliation }) => reconciliation.askAgain()));
  });
  afterAll(async () => {
    await platform.stop();
    disk?.unmount();
  });

  /** Responses that clients received completely. */
  const ended = (): number => payers.reduce((sum, { reconciliation }) => sum + reconciliation.ended.size, 0);

  function load(name: string): Load {
    return new Load(platform, payers, { random: new Random(SEED), clients: CLIENTS, name });
  }

  it('requests still succeed, each is charged once, and refused ones are not charged', TIMEOUT, async () => {
    const clients = load('full');
    await sleep(WARM_MS);
    const grown = await GrownMemory.since(platform.service);
    onTestFinished(() => grown.close());
    await disk?.fill();
    const before = ended();
    await sleep(FULL_MS);
    await disk?.fill();
    const during = ended() - before;
    await disk?.free();
    await sleep(1_000);
    await clients.end();
    // Otherwise the test would prove nothing.
    expect(platform.service.output).toMatch(NO_SPACE);
    expect(during).toBeGreaterThan(0);
    expect(await faultsLeft(platform, payers, { others: () => grown.faults() })).toEqual([]);
  });

  it('finished responses are charged by the next run if this one is killed', TIMEOUT, async () => {
    const clients = load('killed');
    await sleep(500);
    await disk?.fill();
    await sleep(FULL_MS);
    const killed = platform.kill();
    await clients.end();
    await killed;
    await disk?.free();
    await platform.restart();
    expect(await faultsLeft(platform, payers)).toEqual([]);
  });
});
