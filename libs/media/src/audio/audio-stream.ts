import type { Packets } from '../audio-codecs/packets.js';
import type { AacConfig } from '../audio-codecs/aac.js';
import type { AlacConfig } from '../audio-codecs/alac.js';
import type { VorbisConfig } from '../audio-codecs/vorbis.js';

export interface PcmFormat {
  /** As in the header: 1 is PCM, 3 float, 6 A-law, 7 µ-law. */
  readonly encoding: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

/** The only audio stream of a file, without its container. */
export type AudioStream =
  | { readonly codec: 'pcm'; readonly format: PcmFormat; readonly samples: Buffer }
  /** Frames with their headers, and for FLAC its metadata. */
  | { readonly codec: 'mp3' | 'flac'; readonly bytes: Buffer }
  | { readonly codec: 'aac'; readonly config: AacConfig; readonly packets: Packets }
  | { readonly codec: 'alac'; readonly config: AlacConfig; readonly packets: Packets }
  /** The header is that of Ogg. */
  | { readonly codec: 'opus'; readonly head: Buffer; readonly packets: Packets }
  | { readonly codec: 'vorbis'; readonly config: VorbisConfig; readonly packets: Packets };
