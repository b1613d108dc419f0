import { DAMAGED, Unreadable } from '@svc/threads';
import type { AudioStream } from './audio-stream.js';
import { NO_AUDIO, type WrittenAudio } from '../audio-codecs/audio-terms.js';
import { type Frame, framesIn } from '../audio-codecs/frames.js';
import { refuseOtherFormats } from '../audio-codecs/other-formats.js';
import type { Packets } from '../audio-codecs/packets.js';

/** Kilobits per second by their index in the header, for MPEG-1 layers I to III, and for MPEG-2. */
const MPEG1 = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
] as const;
const MPEG2_LAYER1 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256] as const;
const MPEG2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;

const MPEG1_RATES = [44_100, 48_000, 32_000] as const;

/** Version, layer and sample rate. */
const KIND_BITS = 0x1e_0c_00;

interface Mp3Frame extends Frame {
  readonly samples: number;
  readonly rate: number;
}

export const readMp3 = (bytes: Buffer): AudioStream => ({ codec: 'mp3', bytes });

/** All frames, one directly behind the other, without tags and without statements about the whole file. */
export function writeMp3(source: Buffer): WrittenAudio {
  const frames = framesIn(source, frameAt);
  let [information, skipped] = [0, 0];
  while (information < frames.count && isInformation(frames.at(information))) {
    skipped += frames.sizeOf(information);
    information += 1;
  }
  const bytes = frames.joined().subarray(skipped);
  const head = frameAt(bytes, 0);
  if (!head) throw new Unreadable(NO_AUDIO);
  refuseOtherFormats(bytes);
  const seconds = ((frames.count - information) * head.samples) / head.rate;
  return { format: 'mp3', seconds, bytes: Buffer.concat([emptyTag(), bytes]) };
}

/**
 * An ID3v2 tag of zeros. FFmpeg looks at the first 16 KiB of a file, and then at twice as much: it sees so
 * many frames at once that it takes few other formats for more probable.
 */
function emptyTag(): Buffer {
  const tag = Buffer.alloc(TAG_BYTES);
  tag.write('ID3\u0004', 'latin1');
  const size = TAG_BYTES - 10;
  tag.set([(size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127], 6);
  return tag;
}

const TAG_BYTES = 16_400;

/** Each packet must be one frame: decoders also read what is behind it. */
export function mp3Stream(packets: Packets): AudioStream {
  for (const packet of packets)
    if (frameAt(packet, 0)?.bytes !== packet.length) throw new Unreadable(DAMAGED);
  return { codec: 'mp3', bytes: packets.joined() };
}

function frameAt(bytes: Buffer, at: number): Mp3Frame | undefined {
  if (at + 4 > bytes.length || bytes[at] !== 0xff) return undefined;
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if (second < 0xe0) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const baseRate = MPEG1_RATES[(third >> 2) & 3];
  if (version === 1 || layer === 4 || baseRate === undefined) return undefined;
  // MPEG-2.5 has only layer III.
  if (version === 0 && layer !== 3) return undefined;
  return sized(third, { version, layer, baseRate, kind: ((second << 16) | (third << 8)) & KIND_BITS });
}

/** The size of a frame, by its bits a second. Free ones are not supported. */
function sized(
  third: number,
  { version, layer, baseRate, kind }: { version: number; layer: number; baseRate: number; kind: number },
): Mp3Frame | undefined {
  const isMpeg1 = version === 3;
  const rate = baseRate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const table = isMpeg1 ? MPEG1[layer - 1] : layer === 1 ? MPEG2_LAYER1 : MPEG2;
  const bits = (table?.[third >> 4] ?? 0) * 1_000;
  if (bits === 0) return undefined;
  const padding = (third >> 1) & 1;
  if (layer === 1) return { bytes: (Math.floor((12 * bits) / rate) + padding) * 4, samples: 384, rate, kind };
  const samples = layer === 3 && !isMpeg1 ? 576 : 1_152;
  return { bytes: Math.floor(((samples / 8) * bits) / rate) + padding, samples, rate, kind };
}

/** Whether a frame has facts about the file (Xing, VBRI) in place of audio. Only the first ones may. */
const isInformation = (frame: Buffer): boolean =>
  /^.{4}(.{9}|.{17}|.{32})(Xing|Info|VBRI)/s.test(frame.toString('latin1', 0, 44));
