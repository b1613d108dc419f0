import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeMonth } from './close-month.js';
import { MonthFolder, type MonthPlace } from './month-place.js';
import { type RunningLedger, chargeOf, startLedger, usd } from '../../test/testing.js';

const MONTH = '2026-03';
const CHARGES = 50;

let test: TestDatabase;
let running: RunningLedger;
let folder: string;

beforeEach(async () => {
  test = await startTestDatabase();
  running = await startLedger({ url: test.url });
  folder = await mkdtemp(join(tmpdir(), 'svc-month-place-'));
  const accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
  const charge = () => chargeOf(accountId, 3n, { at: `${MONTH}-31T23:59:59.999Z` });
  await running.poster.post(Array.from({ length: CHARGES }, charge));
});

afterEach(async () => {
  await running.stop();
  await test.stop();
  await rm(folder, { recursive: true });
});

const closeTo = (place: MonthPlace) => closeMonth({ url: test.url, month: MONTH, place, afterDays: 90 });

async function expectAllCharges(count = CHARGES): Promise<void> {
  const rows = await running.database.query('SELECT FROM ledger.charges');
  expect(rows).toHaveLength(count);
  await expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });
}

describe('closing a month drops nothing', () => {
  it.each<[string, (path: string) => Promise<void>]>([
    ['is missing', (path) => rm(path)],
    ['lost its end', (path) => truncate(path, 20)],
    ['got another byte', (path) => appendFile(path, 'x')],
    ['has other content', (path) => writeFile(path, gzipSync(''))],
  ])('if one of its files, once stored, %s', async (_, spoil) => {
    for (const spoilt of ['charges.csv.gz', 'charge_lines.csv.gz', 'transfers.csv.gz', 'month.json']) {
      class Spoiling extends MonthFolder {
        override async put(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
          await super.put(name, content);
          if (name === spoilt) await spoil(join(folder, name));
        }
      }
      await expect(closeTo(new Spoiling(folder))).rejects.toThrow(
        `${spoilt} was stored, but what is read back differs`,
      );
      await expectAllCharges();
    }
    await closeTo(new MonthFolder(folder));
    await expectAllCharges(1);
  });

  it('if its files cannot be stored, and gives the reason', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(closeTo(new MonthFolder(join(folder, 'file')))).rejects.toThrow('EEXIST');
    await expectAllCharges();
  });
});
