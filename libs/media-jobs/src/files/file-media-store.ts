import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MeasuredContent, MediaStore, type StoredObject, assertKey } from './media-store.js';

/** No key ends like this. */
const TEMPORARY = '.tmp';
/** No write takes this long, so a temporary file of this age belongs to a process that has ended. */
const ABANDONED_MS = 3_600_000;

/** Objects as files in a folder that one process owns. */
export class FileMediaStore extends MediaStore {
  private constructor(private readonly folder: string) {
    super();
  }

  /** Opens a folder, and removes what killed processes have left in it. */
  static async at(folder: string, nowMs = Date.now()): Promise<FileMediaStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (!name.endsWith(TEMPORARY)) continue;
      const file = await stat(path).catch(() => undefined);
      if (file && file.mtimeMs < nowMs - ABANDONED_MS) await rm(path, { force: true });
    }
    return new FileMediaStore(folder);
  }

  override async put(
    key: string,
    content: AsyncIterable<Uint8Array>,
    limitBytes: number,
  ): Promise<StoredObject> {
    const path = this.pathOf(key);
    const temporary = `${path}.${randomUUID()}${TEMPORARY}`;
    try {
      const file = await open(temporary, 'wx', 0o600);
      try {
        const stored = await copy(content, file, limitBytes);
        await file.sync();
        await rename(temporary, path);
        await this.syncFolder();
        return stored;
      } finally {
        await file.close();
      }
    } finally {
      await rm(temporary, { force: true });
    }
  }

  override async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      const file = await open(this.pathOf(key));
      return createReadStream('', { fd: file });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  override async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  private pathOf(key: string): string {
    assertKey(key);
    return join(this.folder, key);
  }

  /** A new name is durable once its folder is. */
  private async syncFolder(): Promise<void> {
    const folder = await open(this.folder);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

async function copy(
  content: AsyncIterable<Uint8Array>,
  file: FileHandle,
  limitBytes: number,
): Promise<StoredObject> {
  const measured = new MeasuredContent(limitBytes);
  for await (const part of measured.of(content)) await file.writeFile(part);
  return measured.stored();
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
