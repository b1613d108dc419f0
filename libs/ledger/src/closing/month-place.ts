import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClosingFault } from './closing-fault.js';

/** Where the files of a month are written: a folder or a bucket. */
export interface MonthPlace {
  /** Stores a file, durably once this resolves, in place of one with the same name. */
  put(name: string, content: AsyncIterable<Uint8Array>, limitBytes: number): Promise<unknown>;
  /** Reads a file; `undefined` if there is no such file. */
  open(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** A folder, which is made when the first file is written. */
export class MonthFolder implements MonthPlace {
  constructor(private readonly folder: string) {}

  /** A file has its name only once it is complete and on disk. */
  async put(name: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const path = join(this.folder, name);
    const part = `${path}.part`;
    await pipeline(content, createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, path);
    const folder = await open(this.folder);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async open(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = join(this.folder, name);
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    return isThere ? createReadStream(path) : undefined;
  }
}

/** Stores a file and reads it back. Throws ClosingFault unless every byte is there. */
export async function storeProved(
  place: MonthPlace,
  name: string,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const [sent, stored] = [createHash('sha256'), createHash('sha256')];
  const hashed = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of content) {
      sent.update(part);
      yield part;
    }
  };
  await place.put(name, hashed(), Number.POSITIVE_INFINITY);
  for await (const part of (await place.open(name)) ?? []) stored.update(part);
  if (!sent.digest().equals(stored.digest()))
    throw new ClosingFault(`${name} was stored, but what is read back differs. Nothing is dropped.`);
}
