import { DAMAGED, Unreadable } from '@svc/threads';
import { readAdts } from './adts.js';
import type { AudioStream } from './audio-stream.js';
import { NO_AUDIO, type WrittenAudio } from '../audio-codecs/audio-terms.js';
import { readFlac, writeFlac } from './flac.js';
import { id3End } from '../audio-codecs/id3.js';
import { readMp3, writeMp3 } from './mp3.js';
import { writeAac, writeAlac } from './mp4-file.js';
import { readMp4 } from './mp4.js';
import { readOgg, writeOpus, writeVorbis } from './ogg.js';
import { readWav, writeWav } from './wav.js';
import { readWebm } from './webm.js';

/** A new file that has the audio of another one, and nothing else. */
export interface AudioFile {
  readonly format: WrittenAudio['format'];
  /** Of all its audio, rounded up. */
  readonly milliseconds: number;
  readonly bytes: Uint8Array;
}

/** Absorbs the rounding of sums of fractions. */
const EPSILON = 1e-6;

/**
 * Takes the audio out of a file and writes a new one of exactly the frames, packets or samples whose length
 * was measured, so that no decoder can find more in it. Takes linear time. Throws Unreadable.
 */
export function audioFile(source: Uint8Array): AudioFile {
  const whole = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  let begins = 0;
  for (let end = id3End(whole, 0); end > begins; end = id3End(whole, begins)) begins = end;
  const audio = whole.subarray(begins);
  const read = readerOf(audio);
  if (!read) throw new Unreadable('it is not an audio file of a supported format');
  const { format, seconds, bytes } = written(() => read(audio));
  const milliseconds = Math.ceil(seconds * 1_000 - EPSILON);
  if (!Number.isSafeInteger(milliseconds) || milliseconds <= 0) throw new Unreadable(NO_AUDIO);
  return { format, milliseconds, bytes };
}

function written(read: () => AudioStream): WrittenAudio {
  try {
    return fileOf(read());
  } catch (error) {
    // Reading beyond the end.
    throw error instanceof Unreadable ? error : new Unreadable(DAMAGED);
  }
}

function fileOf(stream: AudioStream): WrittenAudio {
  switch (stream.codec) {
    case 'pcm':
      return writeWav(stream.format, stream.samples);
    case 'mp3':
      return writeMp3(stream.bytes);
    case 'flac':
      return writeFlac(stream.bytes);
    case 'aac':
      return writeAac(stream.config, stream.packets);
    case 'alac':
      return writeAlac(stream.config, stream.packets);
    case 'opus':
      return writeOpus(stream.head, stream.packets);
    case 'vorbis':
      return writeVorbis(stream.config, stream.packets);
  }
}

function readerOf(bytes: Buffer): ((bytes: Buffer) => AudioStream) | undefined {
  const start = bytes.toString('latin1', 0, 12);
  if (/^(RIFF|RF64)....WAVE/s.test(start)) return readWav;
  if (start.startsWith('fLaC')) return readFlac;
  if (start.startsWith('OggS')) return readOgg;
  if (start.startsWith('\u001aEß£')) return readWebm;
  if (start.startsWith('ftyp', 4)) return readMp4;
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff || second < 0xe0) return undefined;
  // Layer 0 is reserved in MP3, and the only one in ADTS.
  return (second & 0xf6) === 0xf0 ? readAdts : readMp3;
}
