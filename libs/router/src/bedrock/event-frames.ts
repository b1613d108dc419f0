import { crc32 } from 'node:zlib';
import { unusable } from '@svc/contracts/inference';

/** The lengths of the whole frame and of its headers, and the checksum of both. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/** The most bytes of a frame. An event of the provider takes a few hundred. */
const FRAME_LIMIT_BYTES = 1_048_576;

/** Bytes of the values of headers by their type; those of the types 6 and 7 begin with their length. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const TEXT = 7;

/** A message of `application/vnd.amazon.eventstream`. */
export interface EventFrame {
  /** Those whose values are texts. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: string;
}

/**
 * Reads the messages of `application/vnd.amazon.eventstream` from bytes that arrive in any pieces. Throws
 * INFERENCE_FAILED for a wrong checksum, and for a message over the limit.
 */
export class EventFrames {
  private bytes = Buffer.alloc(PRELUDE_BYTES);
  private filled = 0;

  /** The frames that end within these bytes. */
  read(part: Uint8Array): EventFrame[] {
    const frames: EventFrame[] = [];
    for (let at = 0; at < part.length;) {
      const taken = part.subarray(at, at + this.bytes.length - this.filled);
      this.bytes.set(taken, this.filled);
      this.filled += taken.length;
      at += taken.length;
      if (this.filled < this.bytes.length) break;
      if (this.filled === PRELUDE_BYTES) this.begin();
      else frames.push(this.end());
    }
    return frames;
  }

  /** Whether a frame has begun and not ended. */
  get isWithin(): boolean {
    return this.filled > 0;
  }

  private begin(): void {
    const prelude = this.bytes;
    const length = prelude.readUInt32BE(0);
    const headersLength = prelude.readUInt32BE(4);
    if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
      throw unusable('the backend sent an event with a wrong checksum');
    if (length > FRAME_LIMIT_BYTES || length < PRELUDE_BYTES + headersLength + CHECKSUM_BYTES)
      throw unusable('the backend sent an event with a wrong length');
    this.bytes = Buffer.alloc(length);
    this.bytes.set(prelude);
  }

  private end(): EventFrame {
    const { bytes } = this;
    this.bytes = Buffer.alloc(PRELUDE_BYTES);
    this.filled = 0;
    const end = bytes.length - CHECKSUM_BYTES;
    if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end))
      throw unusable('the backend sent an event with a wrong checksum');
    const body = PRELUDE_BYTES + bytes.readUInt32BE(4);
    return {
      headers: headersIn(bytes.subarray(PRELUDE_BYTES, body)),
      payload: bytes.toString('utf8', body, end),
    };
  }
}

function headersIn(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < bytes.length;) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const type = bytes.readUInt8(nameEnd);
      const fixed = VALUE_BYTES[type];
      const from = nameEnd + (fixed === undefined ? 3 : 1);
      const end = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
      if (end > bytes.length || type >= VALUE_BYTES.length) throw new RangeError('beyond the headers');
      if (type === TEXT)
        headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', from, end));
      at = end;
    }
  } catch {
    throw unusable('the backend sent an event with broken headers');
  }
  return headers;
}
