import { type UnzipFileInfo, unzipSync, zipSync } from 'fflate';
import { DAMAGED, TOO_COMPLEX, Unreadable } from '@svc/threads';

const maxEntries = 20_000;
/** Unpacked, over all reads of one archive. The text of a book of 10,000 pages takes a tenth of that. */
const maxBytes = 200 * 1_048_576;

export type Parts = ReadonlyMap<string, Uint8Array>;

/**
 * A zip file whose entries are unpacked in memory, within limits that are checked beforehand: an entry gets
 * only the size that it claims. Names are never used as paths of this machine.
 */
export class Archive {
  private readonly bytes: Uint8Array;
  private unpacked = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  read(isWanted: (name: string) => boolean): Parts {
    let entries = 0;
    const filter = ({ name, originalSize }: UnzipFileInfo): boolean => {
      entries += 1;
      if (entries > maxEntries) throw new Unreadable(TOO_COMPLEX);
      if (!isWanted(name)) return false;
      this.unpacked += originalSize;
      if (this.unpacked > maxBytes) throw new Unreadable(TOO_COMPLEX);
      return true;
    };
    try {
      return new Map(Object.entries(unzipSync(this.bytes, { filter })));
    } catch (error) {
      throw error instanceof Unreadable ? error : new Unreadable(DAMAGED);
    }
  }
}

/**
 * Packs parts again, without compression, for libraries that unpack by themselves: they see only true sizes,
 * and only the parts that contain text.
 */
export function repack(parts: Parts): Uint8Array {
  return zipSync(Object.fromEntries(parts), { level: 0 });
}
