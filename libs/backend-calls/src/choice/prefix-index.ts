/** Blocks of one index, for two million tokens in 192 KiB. */
const INDEX_BLOCKS = 16_384;

/** How much one report changes the number of blocks that a server is believed to have. */
const LEARNING = 0.05;

/** At most half of the places of the table are used, so that blocks are found near their own. */
const PLACES = 2 * INDEX_BLOCKS;
const MASK = PLACES - 1;

/** The entry before the newest and after the oldest one. */
const END = INDEX_BLOCKS;

/**
 * The blocks of prompts that a server probably has in its cache, of which the least recently used are dropped
 * beyond a capacity. A table of hashes and a list in the order of use, in arrays of numbers.
 */
export class PrefixIndex {
  /** How many blocks the server is believed to have. */
  private capacity = INDEX_BLOCKS;
  private count = 0;
  /** The first of the entries whose blocks were dropped, in a list by `older`. */
  private unused = END;
  private readonly hashes = new Uint32Array(INDEX_BLOCKS);
  /** The entries by hash, each plus one. */
  private readonly table = new Uint16Array(PLACES);
  private readonly newer = new Uint16Array(INDEX_BLOCKS + 1).fill(END);
  private readonly older = new Uint16Array(INDEX_BLOCKS + 1).fill(END);

  /** The server has dropped blocks that it was believed to have: its cache is smaller. */
  shrink(): void {
    this.capacity = Math.max(1, Math.min(this.capacity, this.count) * (1 - LEARNING));
  }

  /** The server had blocks that it was believed to have dropped. */
  grow(): void {
    this.capacity = Math.min(INDEX_BLOCKS, this.capacity * (1 + LEARNING));
  }

  /** The number of blocks of a prompt that it has. */
  known(blocks: Uint32Array): number {
    // The later a block comes in a prompt, the sooner it is dropped.
    let had = 0;
    for (let end = blocks.length; had < end;) {
      const middle = had === 0 ? 0 : (had + end) >>> 1;
      if (this.table[this.placeOf(blocks[middle] ?? 0)] === 0) end = middle;
      else had = middle + 1;
    }
    return had;
  }

  /** The server computes a prompt. */
  add(blocks: Uint32Array): void {
    // Last block first: a prefix outlives the blocks after it.
    for (let at = blocks.length - 1; at >= 0; at -= 1) this.use(blocks[at] ?? 0);
    while (this.count > this.capacity) this.dropOldest();
  }

  private use(block: number): void {
    const known = this.table[this.placeOf(block)] ?? 0;
    if (known > 0) {
      this.unlink(known - 1);
      this.link(known - 1);
      return;
    }
    if (this.count === INDEX_BLOCKS) this.dropOldest();
    const entry = this.unused === END ? this.count : this.unused;
    if (entry === this.unused) this.unused = this.older[entry] ?? END;
    this.hashes[entry] = block;
    // Not the place from above, since dropping a block moves others.
    this.table[this.placeOf(block)] = entry + 1;
    this.link(entry);
    this.count += 1;
  }

  private dropOldest(): void {
    const entry = this.newer[END] ?? END;
    this.unlink(entry);
    this.clearPlace(this.placeOf(this.hashes[entry] ?? 0));
    this.older[entry] = this.unused;
    this.unused = entry;
    this.count -= 1;
  }

  /** Where a block is in the table, or would be. */
  private placeOf(block: number): number {
    let place = block & MASK;
    for (;;) {
      const entry = this.table[place] ?? 0;
      if (entry === 0 || this.hashes[entry - 1] === block) return place;
      place = (place + 1) & MASK;
    }
  }

  /** Moves later blocks up that would not be found behind an empty place. */
  private clearPlace(from: number): void {
    let empty = from;
    for (let place = (from + 1) & MASK; ; place = (place + 1) & MASK) {
      const entry = this.table[place] ?? 0;
      if (entry === 0) break;
      const own = (this.hashes[entry - 1] ?? 0) & MASK;
      if (((place - own) & MASK) < ((place - empty) & MASK)) continue;
      this.table[empty] = entry;
      empty = place;
    }
    this.table[empty] = 0;
  }

  /** Makes an entry the newest. */
  private link(entry: number): void {
    const newest = this.older[END] ?? END;
    this.older[entry] = newest;
    this.newer[entry] = END;
    this.newer[newest] = entry;
    this.older[END] = entry;
  }

  private unlink(entry: number): void {
    const newer = this.newer[entry] ?? END;
    const older = this.older[entry] ?? END;
    this.older[newer] = older;
    this.newer[older] = newer;
  }
}
