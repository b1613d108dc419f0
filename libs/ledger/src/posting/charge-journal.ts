import type { OnApplicationShutdown } from '@nestjs/common';
import {
  type Charge,
  type UsageRecorded,
  UsageRecorded as ChargeRecord,
  decodeCharge,
  encodeCharge,
} from '@svc/contracts/messages';
import { StartFault } from '@svc/runtime';
import { money, watchDisk } from '@svc/telemetry';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

/** A journal entry: the request is to be charged, or never charged. */
export interface JournalEntry {
  readonly kind: 'charge' | 'never';
  readonly charge: Charge;
}

/** Stores charges durably until they are posted, while neither the event log nor the books accept them. */
export abstract class ChargeJournal {
  abstract readonly isThere: boolean;

  /** The entries left by an earlier run. */
  abstract readonly earlier: readonly JournalEntry[];

  /** Resolves once the entry is on disk. Rejects if it can't be stored. */
  abstract append(entry: JournalEntry): Promise<void>;

  /** Marks this number of entries as no longer needed. */
  abstract done(entries: number): void;
}

/** For a process without a journal folder. */
export class NoJournal extends ChargeJournal {
  override readonly isThere = false;
  override readonly earlier = [];

  override append(): Promise<void> {
    return Promise.reject(new Error('there is no journal: LEDGER_JOURNAL_DIR is not set'));
  }

  override done(): void {
    // Nothing was appended.
  }
}

const FILE = 'charges.journal';
/** An entry's header: length and checksum of its JSON, and the file's generation. */
const HEADER_BYTES = 16;
const NO_HEADER = Buffer.alloc(HEADER_BYTES);
/** Bytes that charges leave free for entries about requests that are never charged. */
const RESERVED_BYTES = 64 * 1024;
/** Maximum number of entries waiting to be written. */
const WAITING_MOST = 20_000;

interface WaitingEntry {
  readonly text: Buffer;
  readonly kind: JournalEntry['kind'];
  readonly written: PromiseWithResolvers<void>;
}

/**
 * A journal in a file of fixed size. The file is filled with zeros at the first start, so it still takes
 * entries when the disk is full. Entries appended together share a flush. Once no entry is needed, the file
 * starts over with the next generation, so that entries of older generations are not read.
 */
export class FileJournal extends ChargeJournal implements OnApplicationShutdown {
  override readonly isThere = true;
  override readonly earlier: readonly JournalEntry[];
  private readonly waiting: WaitingEntry[] = [];
  private writing: Promise<void> | undefined;
  private offset: number;
  private live: number;
  private generation: number;
  private isClosed = false;
  private readonly ends: readonly (() => void)[];

  private constructor(
    private readonly place: { readonly folder: string; readonly bytes: number },
    private file: FileHandle,
    found: JournalContent,
  ) {
    super();
    this.earlier = found.entries;
    this.live = found.entries.length;
    this.offset = found.offset;
    this.generation = found.generation;
    // In a StatefulSet the host's name stays with the volume, also when its pod is gone.
    this.ends = [
      money.journalled.observe(() => [[this.live, hostname()]]),
      watchDisk('journal', place.folder),
    ];
  }

  /** Opens or creates the journal of a folder. Rejects: StartFault. */
  static async open(folder: string, bytes: number): Promise<FileJournal> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = await open(join(folder, FILE), constants.O_RDWR | constants.O_CREAT, 0o600);
      const { size } = await file.stat();
      if (size < bytes) await writeWhole(file, Buffer.alloc(bytes - size), size);
      await file.sync();
      const content = Buffer.alloc(Math.max(size, bytes));
      await file.read(content, 0, content.length, 0);
      return new FileJournal({ folder, bytes: content.length }, file, readEntries(content));
    } catch (error) {
      throw new StartFault(
        `LEDGER_JOURNAL_DIR: ${folder} cannot hold a journal of ${bytes} bytes: ${String(error)}`,
        { cause: error },
      );
    }
  }

  override append({ kind, charge }: JournalEntry): Promise<void> {
    if (this.isClosed || this.waiting.length >= WAITING_MOST)
      return Promise.reject(new Error('the journal is closed or behind'));
    const text = Buffer.from(JSON.stringify({ kind, charge: encodeCharge(charge) }));
    const waiting: WaitingEntry = { text, kind, written: Promise.withResolvers() };
    this.waiting.push(waiting);
    this.writing ??= this.write();
    return waiting.written.promise;
  }

  override done(entries: number): void {
    this.live -= entries;
    if (!this.isClosed) this.writing ??= this.write();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await this.writing;
    for (const end of this.ends) end();
    await this.file.close();
  }

  /** Writes all waiting entries, then starts over if no entry is needed. Never rejects. */
  private async write(): Promise<void> {
    // Entries of one turn of the event loop share a flush.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.writeBatch(this.waiting.splice(0));
    if (this.live === 0 && this.offset > 0) await this.beginAnew().catch(() => undefined);
    this.writing = undefined;
    if (this.waiting.length > 0) this.writing = this.write();
  }

  private async writeBatch(batch: readonly WaitingEntry[]): Promise<void> {
    const fitting: WaitingEntry[] = [];
    let length = 0;
    for (const waiting of batch) {
      const most = this.place.bytes - HEADER_BYTES - (waiting.kind === 'charge' ? RESERVED_BYTES : 0);
      const more = HEADER_BYTES + waiting.text.length;
      if (this.offset + length + more > most) {
        waiting.written.reject(new Error('the journal is full'));
        continue;
      }
      fitting.push(waiting);
      length += more;
    }
    if (fitting.length === 0) return;
    // Zeros after the last entry mark the end.
    const parts = fitting.flatMap(({ text }) => [headerOf(text, this.generation), text]);
    const buffer = Buffer.concat([...parts, NO_HEADER]);
    try {
      await this.stayInPlace();
      await writeWhole(this.file, buffer, this.offset);
      await this.file.datasync();
    } catch (error) {
      // The next run must not read entries that were rejected.
      await writeWhole(this.file, NO_HEADER, this.offset).catch(() => undefined);
      for (const { written } of fitting) written.reject(error);
      return;
    }
    this.offset += length;
    this.live += fitting.length;
    for (const { written } of fitting) written.resolve();
  }

  /**
   * The next run would not find entries written to a removed file, so the file is first restored with its
   * content.
   */
  private async stayInPlace(): Promise<void> {
    const path = join(this.place.folder, FILE);
    const [own, found] = [await this.file.stat(), await stat(path).catch(() => undefined)];
    if (found && found.ino === own.ino && found.dev === own.dev) return;
    await mkdir(this.place.folder, { recursive: true, mode: 0o700 });
    const aside = `${path}.again`;
    const again = await open(aside, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600);
    try {
      const content = Buffer.alloc(this.place.bytes);
      await this.file.read(content, 0, this.offset, 0);
      await writeWhole(again, content, 0);
      await again.sync();
      await rename(aside, path);
    } catch (error) {
      await again.close();
      throw error;
    }
    const before = this.file;
    this.file = again;
    await before.close();
  }

  private async beginAnew(): Promise<void> {
    // Safe even if the rest fails: no entry in the file is needed, and entries behind an end mark would not
    // be read.
    this.offset = 0;
    this.generation += 1;
    await writeWhole(this.file, NO_HEADER, 0);
    await this.file.datasync();
  }
}

/** A single write may accept less than the whole buffer. */
async function writeWhole(file: FileHandle, content: Buffer, position: number): Promise<void> {
  for (let from = 0; from < content.length;) {
    const { bytesWritten } = await file.write(content, from, content.length - from, position + from);
    if (bytesWritten === 0) throw new Error('the file takes no more');
    from += bytesWritten;
  }
}

function headerOf(text: Buffer, generation: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(text.length, 0);
  header.writeUInt32LE(crc32(text), 4);
  header.writeDoubleLE(generation, 8);
  return header;
}

interface JournalContent {
  readonly entries: readonly JournalEntry[];
  /** Where the next entry goes. */
  readonly offset: number;
  readonly generation: number;
}

/** The entries of one generation, up to the first incomplete one. */
function readEntries(content: Buffer): JournalContent {
  const entries: JournalEntry[] = [];
  let offset = 0;
  let generation: number | undefined;
  while (offset + HEADER_BYTES <= content.length) {
    const length = content.readUInt32LE(offset);
    const end = offset + HEADER_BYTES + length;
    if (length === 0 || end > content.length) break;
    const text = content.subarray(offset + HEADER_BYTES, end);
    const itsGeneration = content.readDoubleLE(offset + 8);
    generation ??= itsGeneration;
    if (itsGeneration !== generation || crc32(text) !== content.readUInt32LE(offset + 4)) break;
    const { kind, charge } = JSON.parse(text.toString()) as {
      kind: JournalEntry['kind'];
      charge: UsageRecorded;
    };
    entries.push({ kind, charge: decodeCharge(ChargeRecord.parse(charge)) });
    offset = end;
  }
  return { entries, offset, generation: generation ?? Date.now() };
}
