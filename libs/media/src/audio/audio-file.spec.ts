import { Unreadable } from '@svc/threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FRAME_MS,
  aac,
  chunk,
  emptyTrack,
  flac,
  id3,
  mp3,
  mp4,
  ogg,
  wav,
  webm,
  xing,
} from '../../test/audio-files.js';
import { type AudioFile, audioFile } from './audio-file.js';

const MAKERS = { wav, mp3, aac, flac, ogg, mp4, webm } as const;
type Source = keyof typeof MAKERS;
const SOURCES = Object.keys(MAKERS) as Source[];

/** The format of the new file. */
const WRITTEN: Readonly<Record<Source, AudioFile['format']>> = {
  wav: 'wav',
  mp3: 'mp3',
  aac: 'mp4',
  flac: 'flac',
  ogg: 'ogg',
  mp4: 'mp4',
  webm: 'ogg',
};

const lengthOf = (bytes: Uint8Array): number => audioFile(bytes).milliseconds;
const reasonOf = (bytes: Uint8Array): string => {
  try {
    return `${lengthOf(bytes)} ms`;
  } catch (error) {
    return error instanceof Unreadable ? error.reason : String(error);
  }
};

describe('the length of an audio file', () => {
  it.each(SOURCES)('is that of all its frames: %s', (source) => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 1_000 }), (frames) => {
        expect(audioFile(MAKERS[source](frames))).toMatchObject({
          format: WRITTEN[source],
          milliseconds: Math.ceil(frames * FRAME_MS[source] - 1e-6),
        });
      }),
      { numRuns: 30 },
    );
  });

  it('is rounded up', () => {
    expect(lengthOf(aac(1))).toBe(22);
  });

  it('does not depend on what a header says of the whole file', () => {
    const frames = 500;
    for (const declared of [0, 0xff_ff_ff_ff, 16_002]) expect(lengthOf(wav(frames, declared))).toBe(500);
    expect(lengthOf(Buffer.concat([xing(), mp3(frames)]))).toBe(12_000);
    expect(lengthOf(mp4(frames))).toBe(10_667);
    expect(lengthOf(ogg(frames))).toBe(10_000);
    expect(lengthOf(flac(frames))).toBe(Math.ceil((frames * 4_096) / 48));
  });

  it('does not count tags, images and other chunks', () => {
    expect(lengthOf(wav(500, undefined, chunk('LIST', Buffer.alloc(1_000))))).toBe(500);
    expect(lengthOf(Buffer.concat([id3(100_000), mp3(10), Buffer.from(`TAG${' '.repeat(125)}`)]))).toBe(240);
    expect(lengthOf(Buffer.concat([flac(10), Buffer.from(`TAG${' '.repeat(125)}`)]))).toBe(854);
    expect(lengthOf(Buffer.concat([id3(10), id3(10), aac(48)]))).toBe(1_024);
  });

  it('counts what comes behind other bytes and tags', () => {
    expect(lengthOf(Buffer.concat([mp3(10), Buffer.alloc(100_000, 0xff), mp3(10)]))).toBe(480);
    expect(lengthOf(Buffer.concat([mp3(10), id3(100_000), mp3(10)]))).toBe(480);
    expect(lengthOf(Buffer.concat([ogg(50), Buffer.alloc(999), ogg(50, 8)]))).toBe(2_000);
  });

  it('of a fragmented file is that of its fragments', () => {
    expect(lengthOf(mp4(480, { isFragmented: true }))).toBe(10_240);
  });
});

describe('the new file', () => {
  it.each(SOURCES)('has the same length, and the same bytes if it is read again: %s', (source) => {
    const first = audioFile(MAKERS[source](200));
    expect(audioFile(first.bytes)).toEqual(first);
  });

  it.each(SOURCES)('has nothing of what was not measured: %s', (source) => {
    const secret = Buffer.from('<secret>');
    const file = audioFile(Buffer.concat([MAKERS[source](200), secret, Buffer.alloc(40)]));
    expect(Buffer.from(file.bytes).includes(secret)).toBe(false);
  });

  it('has no more samples than the header of a WAV states, those of 16 bits as 24', () => {
    for (const declared of [4, 15_998]) {
      const { milliseconds, bytes } = audioFile(wav(500, declared));
      expect([milliseconds, bytes.length]).toEqual([
        Math.ceil(declared / 32),
        4_096 + 2 * Math.ceil(declared * 0.75),
      ]);
    }
  });
});

/** The same audio with another format chunk, before or behind the right one. */
function twiceFormatted(isFirst: boolean): Buffer {
  const bytes = wav(500);
  const format = Buffer.from(bytes.subarray(12, 36));
  format.writeUInt32LE(384_000, 12);
  const at = isFirst ? 12 : 36;
  return Buffer.concat([bytes.subarray(0, at), format, bytes.subarray(at)]);
}

/** With other numbers in its format chunk. */
function formatted(fields: Readonly<Record<number, number>>): Buffer {
  const bytes = wav(500);
  for (const [at, value] of Object.entries(fields)) bytes.writeUInt16LE(value, 20 + Number(at));
  return bytes;
}

/** A page whose checksum is wrong, with pages inside. */
function hiddenPages(): Buffer {
  const [whole, hidden] = [ogg(50), ogg(1)];
  const at = whole.lastIndexOf('OggS');
  const page = Buffer.concat([whole.subarray(at), hidden.subarray(0, 200)]);
  return Buffer.concat([whole.subarray(0, at), page.fill(9, 22, 26)]);
}

/** Frames of another sample rate than the header's. */
const otherRate = (): Buffer => {
  const bytes = flac(500);
  bytes.writeUIntBE((8_000 << 4) >>> 0, 18, 3);
  return bytes;
};

describe('what decoders read in different ways is rejected', () => {
  it.each([
    ['a second format of a WAV', twiceFormatted(true), /two format chunks/],
    ['a second format behind the first', twiceFormatted(false), /two format chunks/],
    ['a WAV behind a WAV', Buffer.concat([wav(100), wav(100).subarray(12)]), /two (format|data) chunks/],
    [
      'samples before their format',
      Buffer.concat([wav(9).subarray(0, 12), chunk('data', Buffer.alloc(9))]),
      /before/,
    ],
    ['A-law of 64 bits', formatted({ 0: 6, 14: 64, 12: 8 }), /not valid/],
    ['samples of another size than their bits', formatted({ 12: 8 }), /not valid/],
    ['MP3 of two sample rates', Buffer.concat([mp3(9), lsf(9)]), /different formats/],
    [
      'MP3 of two sample rates with a tag between',
      Buffer.concat([mp3(9), id3(9), lsf(9)]),
      /different formats/,
    ],
    ['a second movie', Buffer.concat([mp4(9), mp4(9)]), /two boxes "moov"/],
    ['a second audio track', mp4(9, { more: [emptyTrack(3)] }), /several audio streams/],
    ['the id of a track twice', mp4(9, { more: [emptyTrack(9)] }), /several audio streams/],
    ['pages in a page with a wrong checksum', hiddenPages(), /checksum/],
    ['two streams at the same time', interleaved(), /several audio streams/],
    ['frames of another rate than the header', otherRate(), /another format than the header/],
    ['a gap between frames', Buffer.concat([flac(50), flac(50, 70).subarray(42)]), /not in order/],
  ])('%s', (_what, bytes, reason) => {
    expect(reasonOf(bytes)).toMatch(reason);
  });
});

/** MPEG-2 layer III: 16 kbit/s, 24 kHz. */
const lsf = (frames: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, () => Buffer.concat([Buffer.from('fff324c0', 'hex')], 48)));

/** Two streams of which pages follow in turns. */
function interleaved(): Buffer {
  const [first, second] = [ogg(100, 1), ogg(100, 2)];
  const at = first.lastIndexOf('OggS');
  return Buffer.concat([first.subarray(0, at), second, first.subarray(at)]);
}

describe('an audio file is rejected', () => {
  it.each([
    ['', 'it is not an audio file of a supported format'],
    ['<html>', 'it is not an audio file of a supported format'],
    ['GIF89a<script>', 'it is not an audio file of a supported format'],
  ])('if it is something else: %s', (text, reason) => {
    expect(reasonOf(Buffer.from(text))).toBe(reason);
  });

  it.each([
    ['a WAV without samples', wav(0), 'it contains no audio'],
    ['a WAV with another encoding', Buffer.concat([wav(9)]).fill(0x11, 20, 21), /encoding is not supported/],
    ['an MP3 that is only a tag', id3(1_000), /not an audio file/],
    ['an MP3 with a tag beyond its end', id3(1_000).subarray(0, 500), /not an audio file/],
    ['a FLAC without frames', flac(0), 'it contains no audio'],
    ['a FLAC that hides frames', hidden(), 'the file is damaged'],
    ['an Ogg that is cut off in its headers', ogg(9).subarray(0, 100), 'it contains no audio'],
    ['an MP4 whose tables disagree', mp4(100, { sizes: 99 }), 'the file is damaged'],
    ['an MP4 whose samples are longer than the file', mp4(100, { sizes: 2_000_000 }), 'the file is damaged'],
    ['an MP4 without audio', Buffer.from('00000010667479704d34412000000000', 'hex'), 'it contains no audio'],
    [
      'an MP4 whose boxes do not advance',
      Buffer.from('0000000c667479704d3441200000000066726565', 'hex'),
      /contains no audio|damaged/,
    ],
    ['a WebM without tracks', webm(9).subarray(0, 40), 'it contains no audio'],
  ])('%s', (_what, bytes, reason) => {
    expect(reasonOf(bytes)).toMatch(reason);
  });

  it('in linear time, whatever it repeats', () => {
    const most = 26_214_400;
    const filled = (head: string, unit: string): Buffer => {
      const bytes = Buffer.alloc(most, Buffer.from(unit, 'hex'));
      bytes.write(head, 'hex');
      return bytes;
    };
    const files = [
      filled('fffb14c0', 'ff'),
      filled('fff14c40017ffc', 'fff1'),
      filled('664c614380000022', 'fff8ca08'),
      filled('4f676753', '4f676753'),
      filled('000000186674797000000000', '000000086d6f6f76'),
      filled('1a45dfa380', 'ae80'),
      filled('524946460000000057415645', '6461746100000000'),
    ];
    for (const bytes of files) {
      const before = process.cpuUsage();
      reasonOf(bytes);
      const { user, system } = process.cpuUsage(before);
      // Hundreds of times what it takes, and far less than a quadratic walk.
      expect((user + system) / 1_000).toBeLessThan(30_000);
    }
  });
});

/** The first frame seems to be too long: the second is found neither by its checksum nor by its number. */
function hidden(): Buffer {
  const bytes = flac(500);
  const second = bytes.indexOf(Buffer.from([0xff, 0xf8, 0xca, 0x08, 1]));
  bytes[second + 7] = 0xaa;
  return Buffer.concat([bytes.subarray(0, second), Buffer.alloc(40_000, 7), bytes.subarray(second)]);
}

describe('any bytes', () => {
  const seeds = SOURCES.map((source) => MAKERS[source](60));

  it('have a length or a reason', () => {
    const cut = fc
      .tuple(fc.constantFrom(...seeds), fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 20 }))
      .map(([bytes, from, to, inserted]) => {
        const at = from % bytes.length;
        return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + (to % 40))]);
      });
    const changed = fc
      .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 10 }))
      .map(([bytes, changes]) => {
        const copy = Buffer.from(bytes);
        for (const [at, byte] of changes) copy[at % copy.length] = byte;
        return copy;
      });
    const random = fc
      .tuple(fc.constantFrom('RIFF....WAVEfmt ', 'fLaC', 'OggS', '....ftyp'), fc.uint8Array())
      .map(([head, rest]) => Buffer.concat([Buffer.from(head), rest]));
    fc.assert(
      fc.property(fc.oneof(cut, changed, random), (bytes) => {
        expect(reasonOf(bytes)).not.toMatch(/Error/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are never longer than their frames after a cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SOURCES), fc.nat(), (source, at) => {
        const bytes = MAKERS[source](60);
        const whole = Math.ceil(60 * FRAME_MS[source]);
        const text = reasonOf(bytes.subarray(0, at % bytes.length));
        expect(Number(/^(\d+) ms$/.exec(text)?.[1] ?? 0)).toBeLessThanOrEqual(whole);
      }),
    );
  });
});
