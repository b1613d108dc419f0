import type { SpeechFormat } from '@svc/contracts/catalog';

/** The bytes that tell a format: an Ogg file names its codec in bytes 28 to 35. */
export const SIGNATURE_BYTES = 36;

/** Samples rarely look like a text of this length, and silence never does. */
const TEXT_BYTES = 8;

/** ASCII and its white space. */
const TEXT = /^[\t\n\r\x20-\x7e]*$/;

const SIGNATURES: Readonly<Record<Exclude<SpeechFormat, 'pcm'>, (bytes: Buffer) => boolean>> = {
  mp3: (bytes) => has(bytes, 0, 'ID3') || isMp3Frame(bytes),
  opus: (bytes) => has(bytes, 0, 'OggS') && has(bytes, 28, 'OpusHead'),
  aac: (bytes) => isAdtsFrame(bytes) || has(bytes, 4, 'ftyp'),
  flac: (bytes) => has(bytes, 0, 'fLaC'),
  wav: (bytes) => has(bytes, 0, 'RIFF') && has(bytes, 8, 'WAVE'),
};

/**
 * Whether a file may have this format, by its first bytes. PCM has no signature: anything is PCM that is
 * neither a text nor in a common container.
 */
export function isInFormat(bytes: Buffer, format: SpeechFormat): boolean {
  if (format !== 'pcm') return SIGNATURES[format](bytes);
  const isText = bytes.length >= TEXT_BYTES && TEXT.test(bytes.toString('latin1'));
  return bytes.length > 0 && !isText && !has(bytes, 0, 'RIFF') && !SIGNATURES.opus(bytes);
}

function has(bytes: Buffer, from: number, text: string): boolean {
  return bytes.toString('latin1', from, from + text.length) === text;
}

/** A frame of MPEG audio, layer III, of a known version, bitrate and sample rate. */
function isMp3Frame([first = 0, second = 0, third = 0]: Buffer): boolean {
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  return isLayer3 && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c;
}

/** A frame of AAC with its own header, whose layer is 0. */
function isAdtsFrame([first = 0, second = 0]: Buffer): boolean {
  return first === 0xff && (second & 0xf6) === 0xf0;
}
