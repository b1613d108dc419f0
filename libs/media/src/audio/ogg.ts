import { Unreadable } from '@svc/threads';
import type { AudioStream } from './audio-stream.js';
import {
  HEADER_BYTES,
  NOT_SUPPORTED,
  NO_AUDIO,
  SEVERAL_STREAMS,
  type WrittenAudio,
  ambiguous,
} from '../audio-codecs/audio-terms.js';
import { CONTINUED, FIRST, type OggPage, OggWriter, oggPages } from './ogg-pages.js';
import { OPUS_RATE, opusHead, opusSamples } from '../audio-codecs/opus.js';
import { Packets } from '../audio-codecs/packets.js';
import { type VorbisConfig, readVorbisConfig, vorbisWindow } from '../audio-codecs/vorbis.js';

/** Packets before the audio. */
const HEADERS = { opus: 2, vorbis: 3 } as const;

/** Streams that follow each other, as in recordings of a radio. */
const MOST_LINKS = 1_000;

/** The packets of one stream of a file. */
class Link {
  private readonly bodies: Buffer[] = [];
  private readonly spans: [start: number, end: number][] = [];
  private bytes = 0;
  /** Where the packet began that goes on in the next page. */
  private open: number | undefined;

  constructor(
    readonly codec: keyof typeof HEADERS,
    readonly serial: number,
  ) {}

  add({ flags, segments, body }: OggPage): void {
    const isContinued = (flags & CONTINUED) !== 0;
    // A packet whose beginning or end is lost is left out.
    let start = isContinued ? this.open : this.bytes;
    let at = this.bytes;
    for (const length of segments) {
      at += length;
      if (length === 255) continue;
      if (start !== undefined) this.spans.push([start, at]);
      start = at;
    }
    this.open = segments.at(-1) === 255 ? start : undefined;
    this.bytes = at;
    this.bodies.push(body);
  }

  /** The packets with headers, and those without. */
  packets(): { readonly headers: readonly Buffer[]; readonly audio: Packets } {
    const bytes = Buffer.concat(this.bodies);
    const count = HEADERS[this.codec];
    const headers = this.spans.slice(0, count).map(([start, end]) => bytes.subarray(start, end));
    if (headers.length < count) throw new Unreadable(NO_AUDIO);
    const audio = new Packets(bytes);
    for (const [start, end] of this.spans.slice(count)) audio.add(start, end);
    return { headers, audio };
  }
}

/** Reads Ogg with one audio stream of Opus or Vorbis, or several of the same format one after the other. */
export function readOgg(bytes: Buffer): AudioStream {
  const links: Link[] = [];
  const ended = new Set<number>();
  for (const page of oggPages(bytes)) {
    let link = links.at(-1);
    if ((page.flags & FIRST) !== 0) {
      const codec = codecOf(page.body);
      if (!codec) continue;
      if (link) ended.add(link.serial);
      ended.delete(page.serial);
      link = new Link(codec, page.serial);
      links.push(link);
      if (links.length > MOST_LINKS) throw new Unreadable(ambiguous('it has too many streams'));
    }
    if (ended.has(page.serial)) throw new Unreadable(SEVERAL_STREAMS);
    if (link?.serial === page.serial) link.add(page);
  }
  const [first, ...others] = links.map(streamOf);
  if (!first) throw new Unreadable(`${NOT_SUPPORTED}: expected Opus or Vorbis`);
  if (others.length === 0) return first;
  if (others.some((other) => formatOf(other) !== formatOf(first)))
    throw new Unreadable(ambiguous('its streams have different formats'));
  return { ...first, packets: joinedPackets([first, ...others].map(({ packets }) => packets)) };
}

type OggStream = Extract<AudioStream, { codec: 'opus' | 'vorbis' }>;

function streamOf(link: Link): OggStream {
  const { headers, audio: packets } = link.packets();
  const [first = EMPTY, , third = EMPTY] = headers;
  if (link.codec === 'opus') return { codec: 'opus', head: opusHead(first), packets };
  return { codec: 'vorbis', config: readVorbisConfig(first, third), packets };
}

const EMPTY = Buffer.alloc(0);

/** What must be the same for a decoder that has seen only the first header. */
function formatOf(stream: OggStream): string {
  if (stream.codec === 'opus')
    return stream.head.toString('latin1', 9, 10) + stream.head.toString('latin1', 18);
  return Buffer.concat([stream.config.identification, stream.config.setup]).toString('latin1');
}

function joinedPackets(all: readonly Packets[]): Packets {
  const packets = new Packets(Buffer.concat(all.map((each) => each.joined())));
  let at = 0;
  for (const each of all)
    for (let index = 0; index < each.count; index += 1) {
      packets.add(at, at + each.sizeOf(index));
      at += each.sizeOf(index);
    }
  return packets;
}

/** Opus in Ogg. Its length is that of its packets, before a decoder leaves out the first samples. */
export function writeOpus(head: Buffer, packets: Packets): WrittenAudio {
  const writer = begun([head, commentOf('OpusTags')]);
  let samples = 0;
  for (const packet of packets) writer.add(packet, (samples += opusSamples(packet)));
  return { format: 'ogg', seconds: samples / OPUS_RATE, bytes: writer.end() };
}

/** Vorbis in Ogg. A packet completes half of its window and half of that before it. */
export function writeVorbis(config: VorbisConfig, packets: Packets): WrittenAudio {
  const comment = Buffer.concat([commentOf('\u0003vorbis'), Buffer.from([1])]);
  const writer = begun([config.identification, comment, config.setup]);
  let samples = 0;
  let before = 0;
  for (const packet of packets) {
    const window = vorbisWindow(packet, config);
    if (window === undefined) continue;
    if (before > 0) samples += (before + window) / 4;
    before = window;
    writer.add(packet, samples);
  }
  return { format: 'ogg', seconds: samples / config.rate, bytes: writer.end() };
}

/** The headers: the first one alone in its page. */
function begun([first = EMPTY, ...others]: readonly Buffer[]): OggWriter {
  const writer = new OggWriter();
  writer.add(first, 0);
  writer.flush();
  for (const header of others) writer.add(header, 0);
  writer.flush();
  return writer;
}

/** A comment without comments, whose vendor is a filler. */
function commentOf(name: string): Buffer {
  const vendor = Buffer.alloc(HEADER_BYTES, ' ');
  const [length, comments] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32LE(vendor.length);
  return Buffer.concat([Buffer.from(name, 'latin1'), length, vendor, comments]);
}

function codecOf(body: Buffer): Link['codec'] | undefined {
  if (body.toString('latin1', 0, 8) === 'OpusHead') return 'opus';
  return body.toString('latin1', 0, 7) === '\u0001vorbis' ? 'vorbis' : undefined;
}
