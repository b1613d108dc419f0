/** A new file of an audio stream. */
export interface WrittenAudio {
  readonly format: 'wav' | 'mp3' | 'mp4' | 'flac' | 'ogg';
  readonly seconds: number;
  readonly bytes: Buffer;
}

/**
 * What a new file has before its audio, at least. Decoders look for known marks in the first bytes of a file,
 * FFmpeg in 2,048; if these are ours, samples can't pretend to be a file of another format.
 */
export const HEADER_BYTES = 4_096;

/** The most that decoders agree on. */
export const HIGHEST_RATE = 384_000;

export const NOT_SUPPORTED = 'its encoding is not supported';
export const NO_AUDIO = 'it contains no audio';
export const BAD_HEADER = 'its header is not valid';
export const SEVERAL_STREAMS = 'it has several audio streams: expected one';

/** The reason to refuse a file that decoders read in different ways. */
export const ambiguous = (what: string): string => `decoders read it in different ways: ${what}`;
