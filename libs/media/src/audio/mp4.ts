import { DAMAGED, Unreadable } from '@svc/threads';
import { readAacConfig } from '../audio-codecs/aac.js';
import { readAlacConfig } from '../audio-codecs/alac.js';
import type { AudioStream } from './audio-stream.js';
import { NOT_SUPPORTED, NO_AUDIO, SEVERAL_STREAMS } from '../audio-codecs/audio-terms.js';
import { mp3Stream } from './mp3.js';
import { type Box, boxesIn, contentAt, onlyBox } from './mp4-boxes.js';
import { TrackSamples, addFragmentSamples, addTableSamples } from './mp4-samples.js';
import { opusHead } from '../audio-codecs/opus.js';
import type { Packets } from '../audio-codecs/packets.js';

/** Reads MP4, M4A and QuickTime with one audio track, whole or in fragments. Other tracks are left out. */
export function readMp4(bytes: Buffer): AudioStream {
  const boxes = boxesIn(bytes);
  const movie = onlyBox(boxes, 'moov');
  if (!movie) throw new Unreadable(NO_AUDIO);
  const movieBoxes = boxesIn(movie.content);
  const tracks = movieBoxes.filter(({ name }) => name === 'trak').map(({ content }) => trackIn(content));
  if (new Set(tracks.map(({ id }) => id)).size < tracks.length) throw new Unreadable(SEVERAL_STREAMS);
  const [track, second] = tracks.filter(({ isAudio }) => isAudio);
  if (!track) throw new Unreadable(NO_AUDIO);
  if (second) throw new Unreadable(SEVERAL_STREAMS);
  const table = contentAt(track.media, 'minf', 'stbl');
  if (!table) throw new Unreadable(DAMAGED);
  const samples = new TrackSamples(bytes);
  addTableSamples(samples, table);
  const usualSizes = usualSizesIn(movieBoxes);
  for (const box of boxes)
    if (box.name === 'moof') addFragmentSamples(samples, box, { track: track.id, usualSizes });
  if (samples.packets.count === 0) throw new Unreadable(NO_AUDIO);
  return streamOf(table, samples.packets);
}

interface Track {
  readonly id: number;
  readonly isAudio: boolean;
  readonly media: Buffer;
}

function trackIn(box: Buffer): Track {
  const [head, media] = [contentAt(box, 'tkhd'), contentAt(box, 'mdia')];
  const handler = media && contentAt(media, 'hdlr');
  if (!head || !handler) throw new Unreadable(DAMAGED);
  // Version 1 has times of eight bytes.
  return {
    id: head.readUInt32BE(head[0] === 1 ? 20 : 12),
    isAudio: handler.toString('latin1', 8, 12) === 'soun',
    media,
  };
}

/** The size of the samples of a fragment that states none, by track. */
function usualSizesIn(movie: readonly Box[]): ReadonlyMap<number, number> {
  const extension = onlyBox(movie, 'mvex')?.content;
  const defaults = extension ? boxesIn(extension).filter(({ name }) => name === 'trex') : [];
  return new Map(defaults.map(({ content }) => [content.readUInt32BE(4), content.readUInt32BE(16)]));
}

/** Of an entry of the table of formats: what all have, and what QuickTime adds in its versions. */
const ENTRY_BYTES = 28;
const ADDED_BYTES = [0, 16, 36] as const;

function streamOf(table: Buffer, packets: Packets): AudioStream {
  const formats = contentAt(table, 'stsd');
  if (formats?.readUInt32BE(4) !== 1) throw new Unreadable(`${NOT_SUPPORTED}: it has several formats`);
  const [entry] = boxesIn(formats.subarray(8));
  if (!entry) throw new Unreadable(DAMAGED);
  const { name, content } = entry;
  const added = ADDED_BYTES[content.readUInt16BE(8)];
  if (added === undefined) throw new Unreadable(NOT_SUPPORTED);
  const fields = content.subarray(ENTRY_BYTES + added);
  switch (name) {
    case 'mp4a':
      return decoderStream(needed(inEntry(fields, 'esds')), packets);
    case '.mp3':
      return mp3Stream(packets);
    case 'alac':
      return { codec: 'alac', config: readAlacConfig(needed(inEntry(fields, 'alac')).subarray(4)), packets };
    case 'Opus':
      return { codec: 'opus', head: opusHeadOf(needed(inEntry(fields, 'dOps'))), packets };
    case 'fLaC': {
      const header = Buffer.concat([Buffer.from('fLaC'), needed(inEntry(fields, 'dfLa')).subarray(4)]);
      return { codec: 'flac', bytes: Buffer.concat([header, packets.joined()]) };
    }
    default:
      throw new Unreadable(`${NOT_SUPPORTED}: expected AAC, ALAC, MP3, Opus or FLAC`);
  }
}

/** QuickTime has the box in a box. */
function inEntry(fields: Buffer, name: string): Buffer | undefined {
  const [direct, inside] = [contentAt(fields, name), contentAt(fields, 'wave', name)];
  if (direct && inside) throw new Unreadable(DAMAGED);
  return direct ?? inside;
}

function needed(content: Buffer | undefined): Buffer {
  if (!content) throw new Unreadable(DAMAGED);
  return content;
}

/** Object types of decoders: MPEG-4 audio, AAC LC of MPEG-2, and MP3 of MPEG-2 and MPEG-1. */
const AAC: ReadonlySet<number> = new Set([0x40, 0x67]);
const MP3: ReadonlySet<number> = new Set([0x69, 0x6b]);

/** Reads the description of a decoder, which is in descriptors of tags 3, 4 and 5. */
function decoderStream(box: Buffer, packets: Packets): AudioStream {
  const esds = box.subarray(4);
  let at = skipHead(esds, 0, 3);
  const flags = esds[at + 2] ?? 0;
  at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (esds[at + 3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0);
  at = skipHead(esds, at, 4);
  const type = esds[at] ?? 0;
  if (MP3.has(type)) return mp3Stream(packets);
  if (!AAC.has(type)) throw new Unreadable(`${NOT_SUPPORTED}: expected AAC or MP3`);
  return { codec: 'aac', config: readAacConfig(esds.subarray(skipHead(esds, at + 13, 5))), packets };
}

/** Skips the tag of a descriptor and its length of up to four bytes. */
function skipHead(bytes: Buffer, at: number, tag: number): number {
  if (bytes[at] !== tag) throw new Unreadable(DAMAGED);
  let end = at + 1;
  while (end < at + 4 && ((bytes[end] ?? 0) & 0x80) !== 0) end += 1;
  return end + 1;
}

/** MP4 has the header of Ogg with another version, and its numbers the other way round. */
function opusHeadOf(box: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from('OpusHead'), box]);
  head[8] = 1;
  head.subarray(10, 12).swap16();
  head.subarray(12, 16).swap32();
  head.subarray(16, 18).swap16();
  return opusHead(head);
}
