import { fail } from 'node:assert/strict';
import { Unreadable } from '@svc/threads';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type AudioFile, audioFile } from '../src/audio/audio-file.js';
import { aacConfig } from '../src/audio-codecs/aac.js';
import { readAdts } from '../src/audio/adts.js';
import { Packets } from '../src/audio-codecs/packets.js';
import { AudioFolder, hasFfmpeg, hasPython } from './ffmpeg.js';

const SECONDS = 2.1;
const MINUTE = 60_000;

/** FFmpeg's options, by the format of the new file. Those with | can't go back in their output. */
const OUTPUTS = {
  wav: [
    '-f wav',
    '-f wav |',
    '-c:a pcm_s24le -ac 2 -ar 48000 -f wav',
    '-c:a pcm_s32le -ar 96000 -f wav',
    '-c:a pcm_u8 -ar 8000 -f wav',
    '-c:a pcm_f32le -f wav',
    '-c:a pcm_f64le -f wav',
    '-c:a pcm_alaw -ar 8000 -f wav',
    '-c:a pcm_mulaw -ar 8000 -f wav',
    '-ac 6 -f wav',
    '-rf64 always -f wav',
    '-metadata title=hello -f wav',
  ],
  mp3: [
    '-f mp3',
    '-f mp3 |',
    '-q:a 2 -ac 2 -f mp3',
    '-b:a 8k -ar 8000 -f mp3',
    '-b:a 32k -ar 22050 -f mp3',
    '-b:a 320k -ar 48000 -ac 2 -f mp3',
    '-write_xing 0 -f mp3',
    '-id3v2_version 3 -metadata title=x -write_id3v1 1 -f mp3',
    '-c:a mp2 -f mp2',
    '-c:a libmp3lame -f mp4',
    '-c:a libmp3lame -f matroska',
  ],
  mp4: [
    '-f adts',
    '-ac 2 -ar 48000 -b:a 256k -f adts',
    '-ar 16000 -b:a 24k -f adts',
    '-ar 8000 -f adts',
    '-ar 12000 -f adts',
    '-ar 24000 -ac 2 -f adts',
    '-ar 32000 -f adts',
    '-ar 64000 -f adts',
    '-ar 96000 -ac 2 -f adts',
    '-write_id3v2 1 -metadata title=x -f adts',
    '-f ipod',
    '-ac 2 -movflags faststart -f mp4',
    '-ac 6 -f mov',
    '-movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 500000 -f mp4',
    '-movflags frag_keyframe+empty_moov -f mp4 |',
    '-movflags dash -f mp4',
    '-c:a aac -f matroska',
    '-c:a alac -f ipod',
    '-c:a alac -ar 96000 -ac 2 -sample_fmt s32p -f mov',
  ],
  ogg: [
    '-c:a libopus -f ogg',
    '-c:a libopus -b:a 12k -application voip -frame_duration 60 -f ogg |',
    '-c:a libopus -ac 6 -frame_duration 2.5 -f ogg',
    '-c:a libopus -f webm',
    '-c:a libopus -live 1 -f webm |',
    '-c:a libopus -f mp4',
    '-c:a libvorbis -f ogg',
    '-c:a libvorbis -ar 8000 -f ogg',
    '-c:a libvorbis -ac 6 -q:a 9 -f ogg',
    '-c:a vorbis -strict -2 -ac 2 -f ogg',
    '-c:a libvorbis -f webm',
  ],
  flac: [
    '-f flac',
    '-f flac |',
    '-ac 2 -sample_fmt s32 -ar 96000 -f flac',
    '-compression_level 12 -ar 8000 -f flac',
    '-ac 6 -f flac',
    '-ar 12345 -f flac',
    '-c:a flac -strict -2 -f mp4',
    '-c:a flac -f matroska',
  ],
} as const;

/** What FFmpeg recognises in samples. */
const COMPRESSED = [
  '-b:a 8k -ar 8000 -f mp3',
  '-ar 16000 -b:a 24k -f adts',
  '-c:a ac3 -b:a 32k -ar 32000 -f ac3',
  '-c:a eac3 -b:a 32k -ar 32000 -f eac3',
  '-c:a dca -strict -2 -ac 2 -ar 48000 -f dts',
  '-c:a ac3 -ac 2 -ar 48000 -f spdif',
];

const folder = new AudioFolder();
afterAll(() => folder.remove());

/** A decoder may resample to a little more. */
const ROUNDING = 0.005;

const secondsOf = ({ milliseconds }: AudioFile): number => milliseconds / 1_000;

/** The new file, unless it is refused. */
function accepted(bytes: Uint8Array): AudioFile | undefined {
  try {
    return audioFile(bytes);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** Fails for a file in which FFmpeg finds more than was measured. */
async function expectNoMore(files: readonly AudioFile[], names: readonly string[]): Promise<number[]> {
  const decoded = await folder.decodedSeconds(files.map(({ bytes }) => bytes));
  for (const [at, file] of files.entries())
    if ((decoded[at] ?? Infinity) > secondsOf(file) + ROUNDING)
      fail(`${names[at]}: FFmpeg decodes ${decoded[at]} s of ${secondsOf(file)} s (${file.format})`);
  return decoded;
}

const note = hasFfmpeg ? '' : ' (SKIPPED: there is no FFmpeg)';

describe.skipIf(!hasFfmpeg)(`what FFmpeg decodes from a measured file${note}`, () => {
  it.each(Object.entries(OUTPUTS))(
    'is all that was measured, for every usual file that becomes %s',
    async (format, outputs) => {
      const files = (await folder.made(SECONDS, outputs)).map(audioFile);
      expect(files.map((file) => file.format)).toEqual(outputs.map(() => format));
      const decoded = await expectNoMore(files, outputs);
      for (const [at, file] of files.entries()) {
        // Encoders fill their first and last frames: up to 210 ms of MP3 at 8 kHz.
        expect(secondsOf(file)).toBeGreaterThanOrEqual(SECONDS);
        expect(secondsOf(file)).toBeLessThan(SECONDS + 0.25);
        expect(decoded[at]).toBeGreaterThan(SECONDS - 0.05);
      }
    },
    MINUTE,
  );

  it(
    'is not more than was measured, whatever was changed in a file',
    async () => {
      const outputs = Object.values(OUTPUTS).flat();
      const originals = await folder.made(0.6, outputs);
      const changes = fc.sample(changed(originals), { seed: 46, numRuns: repeats('CHANGED_AUDIO') });
      const names: string[] = [];
      const files: AudioFile[] = [];
      for (const { bytes, name } of changes) {
        const file = accepted(bytes);
        if (!file) continue;
        files.push(file);
        names.push(name);
      }
      expect(files.length).toBeGreaterThan(changes.length / 10);
      await expectNoMore(files, names);
    },
    60 * MINUTE,
  );

  it('has no frame of AAC behind the first one of a packet', async () => {
    const [bytes = Buffer.alloc(0)] = await folder.made(SECONDS, ['-ar 16000 -b:a 24k -f adts']);
    const stream = readAdts(bytes);
    if (stream.codec !== 'aac') fail('it is AAC');
    const frames = [...stream.packets];
    const pairs = Array.from({ length: Math.floor(frames.length / 2) }, (_, at) =>
      adtsFrame(Buffer.concat(frames.slice(at * 2, at * 2 + 2))),
    );
    const file = audioFile(Buffer.concat(pairs));
    expect(stream.config).toEqual(aacConfig(8, 1));
    expect(secondsOf(file)).toBeCloseTo((pairs.length * 1_024) / 16_000, 2);
    await expectNoMore([file], ['pairs of frames']);
  });

  it('is not another file inside', async () => {
    const [stream = Buffer.alloc(0)] = await folder.made(20, [
      '-c:a libmp3lame -b:a 16k -ar 16000 -f mpegts',
    ]);
    expect(await folder.decodedSeconds([stream])).toEqual([expect.closeTo(20, 0)]);
    const wav = Buffer.concat([wavHead(stream.length), stream]);
    const packets = new Packets(stream);
    for (let at = 0; at < stream.length; at += 1_316) packets.add(at, Math.min(at + 1_316, stream.length));
    const mp3 = Buffer.concat([...packets].map((part) => Buffer.concat([MP3_HEAD, part], 1_440)));
    expect(await folder.decodedSeconds([mp3])).toEqual([expect.closeTo(20, 0)]);
    expect(accepted(mp3)).toBeUndefined();
    await expectNoMore([audioFile(wav)], ['a transport stream in WAV']);
  });

  it.each([8, 16, 24, 32])('is not compressed audio among samples of %i bits', async (bits) => {
    const compressed = await folder.made(20, COMPRESSED);
    const files = compressed.map((samples) =>
      accepted(Buffer.concat([wavHead(samples.length, bits), samples])),
    );
    expect(files.map((file, at) => file && COMPRESSED[at]).filter(Boolean)).toEqual(
      COMPRESSED.filter((output) => bits === 16 || !output.endsWith('spdif')),
    );
    await expectNoMore(
      files.filter((file) => file !== undefined),
      COMPRESSED,
    );
  });

  it.skipIf(!hasPython)('is the same as what Python reads', async () => {
    const files = (
      await folder.made(
        SECONDS,
        OUTPUTS.wav.filter((output) => !/pcm_[fam]/.test(output)),
      )
    ).map(audioFile);
    const read = await folder.pythonSeconds(files.map(({ bytes }) => bytes));
    for (const [at, file] of files.entries()) expect(read[at]).toBeCloseTo(secondsOf(file), 2);
  });
});

interface ChangedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Files with changed bytes, numbers and parts. Most changes are at the beginning, where the headers are. */
function changed(originals: readonly Buffer[]): fc.Arbitrary<ChangedFile> {
  const index = fc.nat(originals.length - 1);
  const fileAt = (at: number): Buffer => originals[at] ?? Buffer.alloc(0);
  const place = fc.oneof(fc.nat(200), fc.nat(5_000), fc.nat());
  const number = fc.constantFrom(
    '00',
    'ff',
    '01',
    '7f',
    '00000000',
    'ffffffff',
    '01000000',
    '00000001',
    '7fffffff',
  );
  const change = fc.oneof(
    fc.record({
      kind: fc.constant('byte' as const),
      place,
      content: fc.uint8Array({ minLength: 1, maxLength: 1 }),
    }),
    fc.record({
      kind: fc.constant('number' as const),
      place,
      content: number.map((hex) => Buffer.from(hex, 'hex')),
    }),
    fc.record({ kind: fc.constant('insert' as const), place, content: fc.uint8Array({ maxLength: 40 }) }),
    fc.record({ kind: fc.constant('remove' as const), place, length: fc.nat(400) }),
    fc.record({ kind: fc.constant('repeat' as const), place, length: fc.nat(4_000), to: place }),
    fc.record({ kind: fc.constant('append' as const), other: index }),
    fc.record({ kind: fc.constant('embed' as const), place, other: index }),
  );
  return fc
    .record({ at: index, changes: fc.array(change, { minLength: 1, maxLength: 4 }) })
    .map(({ at, changes }) => {
      let bytes = Buffer.from(fileAt(at));
      for (const each of changes) {
        const start = 'place' in each ? each.place % (bytes.length + 1) : bytes.length;
        const [before, after] = [bytes.subarray(0, start), bytes.subarray(start)];
        if (each.kind === 'append') bytes = Buffer.concat([bytes, fileAt(each.other)]);
        else if (each.kind === 'embed') bytes = Buffer.concat([before, fileAt(each.other), after]);
        else if (each.kind === 'insert') bytes = Buffer.concat([before, each.content, after]);
        else if (each.kind === 'remove') bytes = Buffer.concat([before, after.subarray(each.length)]);
        else if (each.kind === 'repeat') {
          const to = each.to % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, to), after.subarray(0, each.length), bytes.subarray(to)]);
        } else bytes = Buffer.concat([before, each.content, after.subarray(each.content.length)]);
      }
      return { name: `${Object.values(OUTPUTS).flat()[at]} ${JSON.stringify(changes)}`, bytes };
    });
}

/** A frame of AAC LC of 16 kHz, mono. */
function adtsFrame(content: Buffer): Buffer {
  const length = content.length + 7;
  const head = Buffer.from([
    0xff,
    0xf1,
    0x60,
    0x40 | (length >> 11),
    (length >> 3) & 255,
    ((length & 7) << 5) | 31,
    0xfc,
  ]);
  return Buffer.concat([head, content]);
}

/** MPEG-1 layer III, 320 kbit/s, 32 kHz: 1,440 bytes a frame. */
const MP3_HEAD = Buffer.from('fffbe8c0', 'hex');

/** The head of a WAV file of this many bytes of samples, with the most bytes a second. */
function wavHead(size: number, bits = 32): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.write('WAVEfmt ', 8);
  head.write('data', 36);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(8, 22);
  head.writeUInt32LE(192_000, 24);
  head.writeUInt32LE(192_000 * bits, 28);
  head.writeUInt16LE(bits, 32);
  head.writeUInt16LE(bits, 34);
  head.writeUInt32LE(size, 40);
  return head;
}
