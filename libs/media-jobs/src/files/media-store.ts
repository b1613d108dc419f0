/** What was stored. */
export interface StoredObject {
  readonly bytes: number;
  readonly sha256: string;
  /** The first bytes, which tell the type. */
  readonly head: Buffer;
}

/** The number of bytes in `head`. */
export const HEAD_BYTES = 64;

/** An object is longer than it may be. */
export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';
}

/** Holds objects by key: the id of a job. */
export abstract class MediaStore {
  /**
   * Stores an object, durably once this resolves, in place of one with the same key. If it rejects, the key
   * has its earlier object or none. Rejects with ObjectTooLarge.
   */
  abstract put(key: string, content: AsyncIterable<Uint8Array>, limitBytes: number): Promise<StoredObject>;

  /** Reads an object; `undefined` if the key has none. */
  abstract open(key: string): Promise<AsyncIterable<Uint8Array> | undefined>;

  /** Deletes an object, or none. */
  abstract remove(key: string): Promise<void>;
}
