/** Writes numbers of any number of bits, the most significant bit first. */
export class Bits {
  private readonly bits: number[] = [];

  put(value: number, width: number): this {
    for (let at = width - 1; at >= 0; at -= 1) this.bits.push(Math.floor(value / 2 ** at) % 2);
    return this;
  }

  /** The bytes, with zeros after the last bit. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.bits.length / 8));
    for (const [at, bit] of this.bits.entries())
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (7 - (at % 8)));
    return bytes;
  }
}

/** A cyclic redundancy check without reflection, starting at zero. */
export function crc(bytes: Uint8Array, { width, polynomial }: { width: number; polynomial: number }): number {
  const size = 2n ** BigInt(width);
  let rest = 0n;
  for (const byte of bytes) {
    rest ^= BigInt(byte) << BigInt(width - 8);
    for (let bit = 0; bit < 8; bit += 1) {
      const isHigh = rest >= size / 2n;
      rest = (rest * 2n) % size;
      if (isHigh) rest ^= BigInt(polynomial);
    }
  }
  return Number(rest);
}
