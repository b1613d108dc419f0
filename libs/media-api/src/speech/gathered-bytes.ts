/** The most bytes of one file that are gathered before it is sent, and of all files together. */
const FILE_BYTES = 33_554_432;
const TOTAL_BYTES = 268_435_456;

/** Bounds the memory for files that are sent whole. */
export class GatheredBytes {
  private heldBytes = 0;

  /** Room for a file. */
  file(): GatheredFile {
    let bytes = 0;
    const add = (more: number): void => {
      bytes += more;
      this.heldBytes += more;
    };
    return {
      fits: (more) => {
        if (bytes + more > FILE_BYTES || this.heldBytes + more > TOTAL_BYTES) return false;
        add(more);
        return true;
      },
      release: () => add(-bytes),
    };
  }
}

export interface GatheredFile {
  /** Takes room for further bytes, if there is any. */
  fits(bytes: number): boolean;
  /** Gives all room back. */
  release(): void;
}
