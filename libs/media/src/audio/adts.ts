import { Unreadable } from '@svc/threads';
import { aacConfig } from '../audio-codecs/aac.js';
import type { AudioStream } from './audio-stream.js';
import { NOT_SUPPORTED } from '../audio-codecs/audio-terms.js';
import { type Frame, framesIn } from '../audio-codecs/frames.js';
import { Packets } from '../audio-codecs/packets.js';

const HEADER_BYTES = 7;
const CHECKSUM_BYTES = 2;

/** Version, profile, sample rate and channels. */
const KIND_BITS = 0x08_fd_c0;

export function readAdts(bytes: Buffer): AudioStream {
  const frames = framesIn(bytes, frameAt);
  const whole = frames.joined();
  const packets = new Packets(whole);
  let at = 0;
  for (const frame of frames) {
    if (((frame[6] ?? 0) & 3) !== 0) throw new Unreadable(`${NOT_SUPPORTED}: a frame has several blocks`);
    const isChecked = ((frame[1] ?? 0) & 1) === 0;
    packets.add(at + HEADER_BYTES + (isChecked ? CHECKSUM_BYTES : 0), at + frame.length);
    at += frame.length;
  }
  const format = whole.readUInt16BE(2);
  if (format >> 14 !== 1) throw new Unreadable(`${NOT_SUPPORTED}: expected AAC LC or HE-AAC`);
  return { codec: 'aac', config: aacConfig((format >> 10) & 15, (format >> 6) & 7), packets };
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + HEADER_BYTES > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return undefined;
  const length = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1f_ff;
  if (length <= HEADER_BYTES) return undefined;
  return { bytes: length, kind: bytes.readUIntBE(at + 1, 3) & KIND_BITS };
}
