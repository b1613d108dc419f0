/** A running 53-bit hash of text and numbers; two independent 32-bit lanes make collisions unlikely. */
export class Hash {
  private a = 0x811c9dc5 | 0;
  private b = 0x9747b28c | 0;

  /** Mixes a slice of UTF-16 code units into the state. */
  add(text: string, start = 0, end = text.length): this {
    let a = this.a;
    let b = this.b;
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul((b << 13) | (b >>> 19), 5) ^ Math.imul(code + 1, 0x9e3779b1);
    }
    this.a = a;
    this.b = b;
    return this;
  }

  /** Mixes a number by its decimal text. */
  addNumber(value: number): this {
    return this.add(`#${value};`);
  }

  /** The hash so far as a safe integer. */
  value(): number {
    return finish(this.a ^ this.b) * 0x200000 + (finish(this.b) >>> 11);
  }
}

function finish(state: number): number {
  let x = state;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A source of numbers in [0, 1) that depends only on its seed. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = finish((seed % 0x100000000) ^ Math.floor(seed / 0x100000000));
  }

  /** The next number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 0x100000000;
  }

  /** An integer from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** One of the items; the list must not be empty. */
  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
