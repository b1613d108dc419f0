import { BLOCK_BYTES, type FileBlocks } from '@svc/contracts/ports';

const blockName = (fileId: string, block: number): string => `${fileId}-${block}`;

/** What was written of a file. */
export interface WrittenFile {
  readonly bytes: number;
  readonly blocks: number;
}

/** Writes the content of a file in blocks, of which one is in memory. */
export async function writeBlocks(
  blocks: FileBlocks,
  fileId: string,
  content: AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let used = 0;
  let count = 0;
  for await (const part of content) {
    for (let at = 0; at < part.length;) {
      if (used === BLOCK_BYTES) {
        await blocks.put(blockName(fileId, count), block);
        // The store may still read the last one.
        block = Buffer.allocUnsafe(BLOCK_BYTES);
        count += 1;
        used = 0;
      }
      const taken = part.subarray(at, at + BLOCK_BYTES - used);
      block.set(taken, used);
      used += taken.length;
      at += taken.length;
    }
  }
  const bytes = count * BLOCK_BYTES + used;
  if (used > 0) {
    await blocks.put(blockName(fileId, count), block.subarray(0, used));
    count += 1;
  }
  return { bytes, blocks: count };
}

/** A part of a file is not in the store. */
export class BlockMissing extends Error {
  override readonly name = 'BlockMissing';
}

/** The content of a file. Throws BlockMissing. */
export async function* readBlocks(blocks: FileBlocks, fileId: string, count: number): AsyncGenerator<Buffer> {
  for (let block = 0; block < count; block += 1) {
    const bytes = await blocks.get(blockName(fileId, block));
    if (!bytes) throw new BlockMissing(`block ${block} of ${fileId} is missing`);
    yield bytes;
  }
}

/** Bytes of a file, from one to before another. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range of bytes that a header `Range` names, of a file of this size. Undefined if it names none or
 * several, which is to be ignored; null if the file has none of its bytes. Source: RFC 9110, 14.2.
 */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | null | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < from) return undefined;
  return from < to ? { from, to } : null;
}

/** A part of the content of a file. Throws BlockMissing. */
export async function* readBytes(
  blocks: FileBlocks,
  fileId: string,
  { from, to }: ByteRange,
): AsyncGenerator<Buffer> {
  for (let block = Math.floor(from / BLOCK_BYTES); block * BLOCK_BYTES < to; block += 1) {
    const bytes = await blocks.get(blockName(fileId, block));
    if (!bytes) throw new BlockMissing(`block ${block} of ${fileId} is missing`);
    const start = block * BLOCK_BYTES;
    yield bytes.subarray(Math.max(0, from - start), to - start);
  }
}

/** Deletes the blocks of a file, the last one first. May be repeated. */
export async function removeBlocks(blocks: FileBlocks, fileId: string, count: number): Promise<void> {
  for (let block = count - 1; block >= 0; block -= 1) await blocks.remove(blockName(fileId, block));
}
