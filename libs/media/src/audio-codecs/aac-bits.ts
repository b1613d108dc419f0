import { DAMAGED, Unreadable } from '@svc/threads';
import type { AacCode } from './aac-codes.js';

/** Reads bits, the most significant first. */
export class AacBits {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  /** The bits that were read. */
  get position(): number {
    return this.at;
  }

  read(bits: number): number {
    let value = 0;
    for (let bit = 0; bit < bits; bit += 1) value = value * 2 + this.bit();
    return value;
  }

  skip(bits: number): void {
    this.at += bits;
    if (this.at > this.bytes.length * 8) throw new Unreadable(DAMAGED);
  }

  align(): void {
    this.at = Math.ceil(this.at / 8) * 8;
  }

  /** Skips a word of a code, with the signs and large numbers that follow it. */
  skipWord({ lengths, signs, escapes }: AacCode): void {
    let [word, first, index] = [0, 0, 0];
    for (const count of lengths) {
      word = word * 2 + this.bit();
      first *= 2;
      if (word - first < count) {
        const at = index + word - first;
        if (signs !== '') this.skip(signs.charCodeAt(at) - ZERO);
        if (escapes !== '') this.skipNumbers(escapes.charCodeAt(at) - ZERO);
        return;
      }
      first += count;
      index += count;
    }
    throw new Unreadable(DAMAGED);
  }

  /** Numbers above 15: ones that say how many bits, and a zero before those. */
  private skipNumbers(count: number): void {
    for (let number = 0; number < count; number += 1) {
      let bits = 4;
      while (this.bit() === 1) bits += 1;
      this.skip(bits);
    }
  }

  private bit(): number {
    const byte = this.bytes[this.at >> 3];
    if (byte === undefined) throw new Unreadable(DAMAGED);
    const bit = (byte >> (7 - (this.at & 7))) & 1;
    this.at += 1;
    return bit;
  }
}

const ZERO = 48;
