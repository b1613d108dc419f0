/** The most bytes of a block. A file has blocks of this size, and a last one of at most it. */
export const BLOCK_BYTES = 4_194_304;

/** The bytes of clients' files, in blocks, in the store of media. */
export abstract class FileBlocks {
  /**
   * Stores a block, durably once this resolves, in place of one with the same name. Rejects: UNAVAILABLE;
   * NOT_AVAILABLE in a deployment without a place for files.
   */
  abstract put(name: string, bytes: Uint8Array): Promise<void>;

  /** A block; undefined if the store has no block of this name. Rejects as `put`. */
  abstract get(name: string): Promise<Buffer | undefined>;

  /** Deletes a block, or none. Rejects as `put`. */
  abstract remove(name: string): Promise<void>;
}
