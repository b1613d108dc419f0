import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MB = 1024 * 1024;
const SMALLEST_BYTES = 4_096;

/** A disk of a known size, in memory, that can be filled completely. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** `undefined` if this process may not mount. */
  static mount(sizeMb: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', path], { stdio: 'ignore' });
      return new SmallDisk(path);
    } catch {
      rmdirSync(path);
      return undefined;
    }
  }

  /** Fills all free space; when called again, the space freed since. */
  async fill(): Promise<void> {
    const file = await open(join(this.path, 'filler'), 'a');
    try {
      for (let bytes = MB; bytes >= SMALLEST_BYTES;) if (!(await this.took(file, bytes))) bytes /= 2;
    } finally {
      await file.close();
    }
  }

  /** Frees the space again. */
  async free(): Promise<void> {
    await rm(join(this.path, 'filler'), { force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.path]);
    rmdirSync(this.path);
  }

  private async took(file: FileHandle, bytes: number): Promise<boolean> {
    try {
      const { bytesWritten } = await file.write(Buffer.alloc(bytes));
      return bytesWritten === bytes;
    } catch {
      return false;
    }
  }
}
