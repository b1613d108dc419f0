import { TOO_COMPLEX, Unreadable } from '@svc/threads';

/** Fifteen hours of the shortest usual packets, those of AAC. */
const MOST = 2_500_000;

/** The packets of an audio stream: parts of one buffer. Two numbers a packet, since there may be millions. */
export class Packets {
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];

  constructor(private readonly bytes: Buffer) {}

  get count(): number {
    return this.starts.length;
  }

  /** Adds a packet, unless it is empty: decoders skip those. */
  add(start: number, end: number): void {
    if (start < 0 || end > this.bytes.length) throw new RangeError('a packet is beyond the end');
    if (end <= start) return;
    if (this.count >= MOST) throw new Unreadable(TOO_COMPLEX);
    this.starts.push(start);
    this.ends.push(end);
  }

  at(index: number): Buffer {
    return this.bytes.subarray(this.starts[index], this.ends[index]);
  }

  sizeOf(index: number): number {
    return (this.ends[index] ?? 0) - (this.starts[index] ?? 0);
  }

  *[Symbol.iterator](): Generator<Buffer> {
    for (let index = 0; index < this.count; index += 1) yield this.at(index);
  }

  /** The beginnings of the packets. */
  cut(bytesOf: (packet: Buffer) => number): Packets {
    const cut = new Packets(this.bytes);
    for (const [index, start] of this.starts.entries()) cut.add(start, start + bytesOf(this.at(index)));
    return cut;
  }

  /** All packets, one directly behind the other. */
  joined(): Buffer {
    const parts: Buffer[] = [];
    let [start, end] = [0, 0];
    for (const [index, next] of this.starts.entries()) {
      if (next !== end) {
        parts.push(this.bytes.subarray(start, end));
        start = next;
      }
      end = this.ends[index] ?? 0;
    }
    return Buffer.concat([...parts, this.bytes.subarray(start, end)]);
  }
}
