import { Unreadable } from '@svc/threads';
import { crcTable } from '../audio-codecs/crc.js';

const HEAD_BYTES = 27;
const MOST_SEGMENTS = 255;
const CRC_AT = 22;

export const CONTINUED = 1;
export const FIRST = 2;
const LAST = 4;

const CRC32 = crcTable(32, 0x04_c1_1d_b7);

export interface OggPage {
  readonly flags: number;
  readonly serial: number;
  /** Lengths of the pieces of packets. One of 255 bytes goes on in the next piece. */
  readonly segments: Buffer;
  readonly body: Buffer;
}

/** The whole pages of a file. Other bytes between pages are skipped, as decoders do. */
export function* oggPages(bytes: Buffer): Generator<OggPage> {
  for (let at = 0; at !== -1 && at + HEAD_BYTES <= bytes.length;) {
    const begins = at + HEAD_BYTES + (bytes[at + 26] ?? 0);
    const segments = bytes.subarray(at + HEAD_BYTES, begins);
    const end = begins + segments.reduce((sum, length) => sum + length, 0);
    if (end > bytes.length) return;
    // Decoders skip a page with a wrong one, use it, or look for another page inside.
    if (bytes[at + 4] !== 0 || checksum(bytes.subarray(at, end)) !== bytes.readUInt32LE(at + CRC_AT))
      throw new Unreadable('the checksum of a page is wrong');
    yield {
      flags: bytes[at + 5] ?? 0,
      serial: bytes.readUInt32LE(at + 14),
      segments,
      body: bytes.subarray(begins, end),
    };
    at = bytes.indexOf('OggS', end, 'latin1');
  }
}

/** The checksum of a page, in which its own place counts as zeros. */
function checksum(page: Buffer): number {
  let crc = 0;
  for (let at = 0; at < page.length; at += 1) {
    const byte = at >= CRC_AT && at < CRC_AT + 4 ? 0 : (page[at] ?? 0);
    crc = ((crc << 8) ^ (CRC32[(crc >>> 24) ^ byte] ?? 0)) >>> 0;
  }
  return crc;
}

/** What a page may contain of the audio, so that decoders can begin soon. */
const PAGE_SAMPLES = 48_000;
/** No granule position: no packet ends in the page. */
const NONE = -1n;

/** Writes packets as the pages of one stream. */
export class OggWriter {
  private readonly pages: Buffer[] = [];
  private segments: number[] = [];
  private parts: Buffer[] = [];
  private flags = FIRST;
  private samples = 0;
  private samplesBefore = 0;
  private endsPacket = false;

  /** A packet that ends at this number of samples of the stream. */
  add(packet: Buffer, samples: number): void {
    let rest = packet;
    for (let isOver = false; !isOver;) {
      if (this.segments.length === MOST_SEGMENTS) this.flush(rest.length < packet.length ? CONTINUED : 0);
      const piece = rest.subarray(0, 255);
      this.segments.push(piece.length);
      this.parts.push(piece);
      rest = rest.subarray(piece.length);
      isOver = piece.length < 255;
    }
    this.samples = samples;
    this.endsPacket = true;
    if (samples - this.samplesBefore >= PAGE_SAMPLES) this.flush();
  }

  /** Ends the page. */
  flush(next = 0, last = 0): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.write('OggS');
    head[5] = this.flags | last;
    head.writeBigInt64LE(this.endsPacket ? BigInt(this.samples) : NONE, 6);
    head.writeUInt32LE(1, 14);
    head.writeUInt32LE(this.pages.length, 18);
    head[26] = this.segments.length;
    const page = Buffer.concat([head, Buffer.from(this.segments), ...this.parts]);
    page.writeUInt32LE(checksum(page), CRC_AT);
    this.pages.push(page);
    this.samplesBefore = this.samples;
    [this.segments, this.parts, this.flags, this.endsPacket] = [[], [], next, false];
  }

  end(): Buffer {
    this.flush(0, LAST);
    return Buffer.concat(this.pages);
  }
}
