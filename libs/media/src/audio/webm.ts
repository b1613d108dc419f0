import { DAMAGED, Unreadable } from '@svc/threads';
import { readAacConfig } from '../audio-codecs/aac.js';
import type { AudioStream } from './audio-stream.js';
import { NOT_SUPPORTED, NO_AUDIO, SEVERAL_STREAMS } from '../audio-codecs/audio-terms.js';
import { mp3Stream } from './mp3.js';
import { opusHead } from '../audio-codecs/opus.js';
import { Packets } from '../audio-codecs/packets.js';
import { readVorbisConfig } from '../audio-codecs/vorbis.js';

/** Elements by their identifiers, of those that are read. */
const SEGMENT = 0x18_53_80_67;
const CLUSTER = 0x1f_43_b6_75;
const TRACKS = 0x16_54_ae_6b;
const TRACK = 0xae;
const BLOCK_GROUP = 0xa0;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC = 0x86;
const CODEC_PRIVATE = 0x63_a2;
const ENCODINGS = 0x6d_80;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;

/** Their content is read like what follows them, so that no nesting has to be trusted. */
const CONTAINERS = new Set([SEGMENT, CLUSTER, TRACKS, TRACK, BLOCK_GROUP]);

const AUDIO = 2;
const MOST_TRACKS = 64;

interface Track {
  number: number;
  type: number;
  codec: string;
  config: Buffer;
  /** Whether its packets are compressed once more, or encrypted. */
  isEncoded: boolean;
  readonly packets: Packets;
}

/** Reads WebM and Matroska with one audio track. Other tracks are left out. */
export function readWebm(bytes: Buffer): AudioStream {
  const tracks: Track[] = [];
  // A recording may be cut off within its last element.
  for (let at = 0; at < bytes.length;) {
    const id = idAt(bytes, at);
    if (!id) break;
    const size = sizeAt(bytes, at + id.length);
    const begins = at + id.length + size.length;
    const end = begins + size.value;
    if (id.value === TRACK) tracks.push(newTrack(bytes));
    if (tracks.length > MOST_TRACKS) throw new Unreadable(DAMAGED);
    if (CONTAINERS.has(id.value)) at = begins;
    else {
      if (end > bytes.length) break;
      if (id.value === SIMPLE_BLOCK || id.value === BLOCK) addBlock(tracks, bytes, { begins, end });
      else describe(tracks.at(-1), id.value, bytes.subarray(begins, end));
      at = end;
    }
  }
  if (new Set(tracks.map(({ number }) => number)).size < tracks.length) throw new Unreadable(SEVERAL_STREAMS);
  const [track, second] = tracks.filter(({ type }) => type === AUDIO);
  if (second) throw new Unreadable(SEVERAL_STREAMS);
  if (!track || track.packets.count === 0) throw new Unreadable(NO_AUDIO);
  return streamOf(track);
}

const newTrack = (bytes: Buffer): Track => ({
  number: 0,
  type: 0,
  codec: '',
  config: Buffer.alloc(0),
  isEncoded: false,
  packets: new Packets(bytes),
});

function describe(track: Track | undefined, id: number, content: Buffer): void {
  if (!track) return;
  if (id === TRACK_NUMBER) track.number = numberIn(content);
  else if (id === TRACK_TYPE) track.type = numberIn(content);
  else if (id === CODEC) track.codec = content.toString('latin1', 0, 32).replace(/\0+$/, '');
  else if (id === CODEC_PRIVATE) track.config = content;
  else if (id === ENCODINGS) track.isEncoded = true;
}

/** A block has a track, a time stamp, flags, and a packet. */
function addBlock(
  tracks: readonly Track[],
  bytes: Buffer,
  { begins, end }: { readonly begins: number; readonly end: number },
): void {
  const number = sizeAt(bytes, begins);
  const track = tracks.find((each) => each.number === number.value);
  if (track?.type !== AUDIO) return;
  const at = begins + number.length + 2;
  if (((bytes[at] ?? 0) & 6) !== 0) throw new Unreadable('several packets in a block are not supported');
  track.packets.add(at + 1, end);
}

function streamOf({ codec, config, isEncoded, packets }: Track): AudioStream {
  if (isEncoded) throw new Unreadable(`${NOT_SUPPORTED}: its packets are compressed or encrypted`);
  switch (codec) {
    case 'A_OPUS':
      return { codec: 'opus', head: opusHead(config), packets };
    case 'A_VORBIS':
      return { codec: 'vorbis', config: vorbisConfigOf(config), packets };
    case 'A_AAC':
      return { codec: 'aac', config: readAacConfig(config), packets };
    case 'A_MPEG/L3':
      return mp3Stream(packets);
    case 'A_FLAC':
      return { codec: 'flac', bytes: Buffer.concat([config, packets.joined()]) };
    default:
      throw new Unreadable(`${NOT_SUPPORTED}: expected Opus, Vorbis, AAC, MP3 or FLAC`);
  }
}

/** Three packets behind their number less one, and the lengths of the first two. */
function vorbisConfigOf(bytes: Buffer) {
  if (bytes[0] !== 2) throw new Unreadable(DAMAGED);
  const lengths: number[] = [];
  let at = 1;
  while (lengths.length < 2) {
    let length = 0;
    for (; bytes[at] === 255; at += 1) length += 255;
    length += bytes[at] ?? 0;
    lengths.push(length);
    at += 1;
  }
  const [first = 0, second = 0] = lengths;
  return readVorbisConfig(bytes.subarray(at, at + first), bytes.subarray(at + first + second));
}

/** An identifier, with the bits that state its length. */
function idAt(bytes: Buffer, at: number): { value: number; length: number } | undefined {
  const length = Math.clz32((bytes[at] ?? 0) << 24) + 1;
  if (length > 4) throw new Unreadable(DAMAGED);
  if (at + length > bytes.length) return undefined;
  return { value: bytes.readUIntBE(at, length), length };
}

/** A size, without the bits that state its length. An unknown one is that of a container, or too large. */
function sizeAt(bytes: Buffer, at: number): { value: number; length: number } {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first << 24) + 1;
  if (length > 8) throw new Unreadable(DAMAGED);
  let value = first & (0xff >> length);
  for (const byte of bytes.subarray(at + 1, at + length)) value = value * 256 + byte;
  return { value, length };
}

function numberIn(content: Buffer): number {
  return content.reduce((sum, byte) => sum * 256 + byte, 0);
}
