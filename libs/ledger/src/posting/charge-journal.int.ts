import { type FileHandle, appendFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { money, runtime } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chargeOf } from '../../test/testing.js';
import { FileJournal, type JournalEntry } from './charge-journal.js';

const BYTES = 1_048_576;
const ACCOUNT = '00000000-0000-4000-8000-000000000001';

let folder: string;
let running: FileJournal | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-journal-'));
});
afterEach(async () => {
  await running?.onApplicationShutdown();
  running = undefined;
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const entries = (count: number, kind: JournalEntry['kind'] = 'charge'): JournalEntry[] =>
  Array.from({ length: count }, (_, index) => ({ kind, charge: chargeOf(ACCOUNT, BigInt(index + 1)) }));

const file = () => join(folder, 'charges.journal');

async function start(): Promise<FileJournal> {
  running = await FileJournal.open(folder, BYTES);
  return running;
}

/** What the next process reads after a crash of this one. */
async function afterCrash(): Promise<readonly JournalEntry[]> {
  const journal = await FileJournal.open(folder, BYTES);
  await journal.onApplicationShutdown();
  return journal.earlier;
}

/** The prototype shared by all open files. */
async function openFiles(): Promise<FileHandle> {
  const handle = await open(folder);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

describe('a journal', () => {
  it('reports its charges that are not posted yet, and the room on its disk, until it is closed', async () => {
    const reported = () => money.journalled.points().map(({ values, value }) => [...values, value]);
    const journal = await start();
    expect(reported()).toEqual([[hostname(), 0]]);
    await Promise.all(entries(3).map((entry) => journal.append(entry)));
    journal.done(1);
    expect(reported()).toEqual([[hostname(), 2]]);
    const [available] = runtime.diskAvailable.points();
    const [size] = runtime.diskSize.points();
    expect(available?.values).toEqual(['journal']);
    expect(available?.value).toBeGreaterThan(0);
    expect(size?.value).toBeGreaterThanOrEqual(available?.value ?? Number.POSITIVE_INFINITY);
    await journal.onApplicationShutdown();
    expect([reported(), runtime.diskSize.points()]).toEqual([[], []]);
  });

  it('passes its entries to the next run, in order, after a clean end or a crash', async () => {
    const journal = await start();
    expect(journal.earlier).toEqual([]);
    const kept = [...entries(20), ...entries(1, 'never')];
    await Promise.all(kept.map((entry) => journal.append(entry)));
    expect(await afterCrash()).toEqual(kept);
    await journal.onApplicationShutdown();
    running = undefined;
    expect(await afterCrash()).toEqual(kept);
  });

  it('starts over once no entry is needed, and never reads older ones', async () => {
    const journal = await start();
    const kept = entries(10);
    await Promise.all(kept.map((entry) => journal.append(entry)));
    journal.done(9);
    expect(await afterCrash()).toEqual(kept);
    journal.done(1);
    await expect.poll(afterCrash).toEqual([]);
    const [first] = kept;
    if (!first) throw new Error('there are ten');
    await journal.append(first);
    expect(await afterCrash()).toEqual([first]);
  });

  it('keeps an entry appended after a flush that failed while starting over', async () => {
    const journal = await start();
    const [first, second] = entries(2) as [JournalEntry, JournalEntry];
    await journal.append(first);
    const flush = vi.spyOn(await openFiles(), 'datasync').mockRejectedValueOnce(new Error('EIO'));
    journal.done(1);
    await expect.poll(() => flush.mock.calls.length).toBe(1);
    await journal.append(second);
    expect(await afterCrash()).toEqual([second]);
  });

  it('keeps an entry that the file first accepted only in part', async () => {
    const journal = await start();
    const files = await openFiles();
    const write = Reflect.get(files, 'write') as () => Promise<never>;
    const writes = vi.spyOn(files, 'write').mockImplementationOnce(function part(this: FileHandle, ...args) {
      const [buffer, from, length, position] = args as unknown as [Buffer, number, number, number];
      return Reflect.apply(write, this, [buffer, from, Math.floor(length / 2), position]);
    });
    const kept = entries(2);
    await Promise.all(kept.map((entry) => journal.append(entry)));
    expect(writes).toHaveBeenCalledTimes(2);
    expect(await afterCrash()).toEqual(kept);
  });

  it('refuses an entry of which the file accepts nothing', async () => {
    const journal = await start();
    const nothing = { bytesWritten: 0, buffer: Buffer.alloc(0) };
    vi.spyOn(await openFiles(), 'write').mockResolvedValueOnce(nothing as never);
    const [first, second] = entries(2) as [JournalEntry, JournalEntry];
    await expect(journal.append(first)).rejects.toThrow('takes no more');
    await journal.append(second);
    expect(await afterCrash()).toEqual([second]);
  });

  it('takes no charge beyond its size, reserves room for refusals, and stays within its file', async () => {
    const journal = await start();
    const results = await Promise.allSettled(entries(3_000).map((entry) => journal.append(entry)));
    const kept = results.filter(({ status }) => status === 'fulfilled').length;
    expect(kept).toBeGreaterThan(500);
    expect(kept).toBeLessThan(3_000);
    await journal.append(...(entries(1, 'never') as [JournalEntry]));
    expect(await afterCrash()).toHaveLength(kept + 1);
    const handle = await open(file());
    expect((await handle.stat()).size).toBe(BYTES);
    await handle.close();
  });

  it('reads up to an entry that a crash truncated or the disk changed', async () => {
    const journal = await start();
    const kept = entries(3);
    for (const entry of kept) await journal.append(entry);
    const length = 16 + JSON.stringify(kept[0]?.charge.requestId).length;
    const handle = await open(file(), 'r+');
    await handle.write('x', 2 * length + 900);
    await handle.close();
    const found = await afterCrash();
    expect(found.length).toBeLessThan(3);
    expect(kept.slice(0, found.length)).toEqual(found);
  });

  it('reads an arbitrary file as an empty journal', async () => {
    await writeFile(file(), Buffer.alloc(5_000, 0xff));
    expect(await afterCrash()).toEqual([]);
    await appendFile(file(), 'more');
    expect(await afterCrash()).toEqual([]);
  });

  it('restores its content if its folder was removed, and refuses entries while that fails', async () => {
    const away = join(folder, 'away');
    running = await FileJournal.open(away, BYTES);
    const [first, second, third] = entries(3) as [JournalEntry, JournalEntry, JournalEntry];
    await running.append(first);
    await rm(away, { recursive: true });
    await writeFile(away, 'no folder');
    await expect(running.append(second)).rejects.toThrow(/EEXIST|ENOTDIR/);
    await rm(away);
    await running.append(third);
    const next = await FileJournal.open(away, BYTES);
    expect(next.earlier).toEqual([first, third]);
    await next.onApplicationShutdown();
  });

  it('fails at the start if its folder cannot be used', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(FileJournal.open(join(folder, 'file', 'x'), BYTES)).rejects.toThrow(/LEDGER_JOURNAL_DIR/);
  });
});
