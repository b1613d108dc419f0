import { createHash } from 'node:crypto';

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

/** Names that are no paths, need no escaping, and do not end like those of temporary files. */
const KEY = /^[\w-]{1,64}(?:\.(?!tmp$)[a-z]{1,8}){0,2}$/;

/** Throws RangeError if a key is not plain. */
export function assertKey(key: string): void {
  if (!KEY.test(key)) throw new RangeError('an object needs a plain name');
}

/** Counts and hashes the content of an object that passes. */
export class MeasuredContent {
  private readonly hash = createHash('sha256');
  private bytes = 0;
  private head = Buffer.alloc(0);

  constructor(private readonly limitBytes: number) {}

  /** Throws ObjectTooLarge. */
  async *of(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of content) {
      this.bytes += part.length;
      if (this.bytes > this.limitBytes)
        throw new ObjectTooLarge(`an object has more than ${this.limitBytes} bytes`);
      if (this.head.length < HEAD_BYTES) this.head = Buffer.concat([this.head, part]).subarray(0, HEAD_BYTES);
      this.hash.update(part);
      yield part;
    }
  }

  /** What has passed, at its end. */
  stored(): StoredObject {
    return { bytes: this.bytes, sha256: this.hash.digest('hex'), head: this.head };
  }
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

  /** Deletes an object, or none, and what interrupted calls of `put` have left of it. */
  abstract remove(key: string): Promise<void>;

  /**
   * A URL at which anyone may read an object for this time, once there is one; `undefined` if the store has
   * no address for clients.
   */
  urlOf(_key: string, _seconds: number): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  /** Closes connections. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
