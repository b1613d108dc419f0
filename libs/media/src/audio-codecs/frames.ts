import { Unreadable } from '@svc/threads';
import { NO_AUDIO, ambiguous } from './audio-terms.js';
import { id3End } from './id3.js';
import { Packets } from './packets.js';

/** The head of a frame of MP3 or AAC. */
export interface Frame {
  /** Of the whole frame. */
  readonly bytes: number;
  /** Its bits that are the same in all frames of a file. */
  readonly kind: number;
}

/**
 * The whole frames of a file. Other bytes between them are skipped; a frame behind such bytes counts if
 * another one follows it, or the end of the file.
 */
export function framesIn(bytes: Buffer, frameAt: (bytes: Buffer, at: number) => Frame | undefined): Packets {
  const packets = new Packets(bytes);
  let kind: number | undefined;
  let inSequence = true;
  for (let at = 0; at < bytes.length;) {
    const frame = frameAt(bytes, at);
    const end = at + (frame?.bytes ?? 0);
    const isWhole = frame !== undefined && end <= bytes.length;
    const isSame = isWhole && (kind === undefined || frame.kind === kind);
    const isFollowed = isWhole && (end === bytes.length || frameAt(bytes, end)?.kind === frame.kind);
    if (isSame && (isFollowed || (inSequence && kind !== undefined))) {
      kind = frame.kind;
      packets.add(at, end);
      at = end;
      inSequence = true;
    } else if (isFollowed && inSequence) {
      throw new Unreadable(ambiguous('its frames have different formats'));
    } else {
      const behindTag = id3End(bytes, at);
      inSequence = behindTag > at;
      at = Math.max(behindTag, at + 1);
    }
  }
  if (packets.count === 0) throw new Unreadable(NO_AUDIO);
  return packets;
}
