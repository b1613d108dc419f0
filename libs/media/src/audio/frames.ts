import { Unreadable } from '@svc/threads';

/** A frame of MP3 or AAC. */
export interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
}

/**
 * The seconds of a sequence of frames. Bytes between frames are skipped, as decoders do, so that audio behind
 * them counts too. The first frame counts if another follows it or the file ends with it.
 */
export function framesSeconds(
  bytes: Buffer,
  frameAt: (bytes: Buffer, at: number) => Frame | undefined,
  isAudio: (bytes: Buffer, at: number) => boolean = () => true,
): number {
  const samplesOf = new Map<number, number>();
  let at = 0;
  let inSequence = false;
  const isFollowed = (end: number): boolean => end >= bytes.length || frameAt(bytes, end) !== undefined;
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    const end = at + (frame?.bytes ?? 0);
    if (frame && (samplesOf.has(frame.rate) || isFollowed(end) || inSequence)) {
      if (samplesOf.size > 0 || isAudio(bytes, at))
        samplesOf.set(frame.rate, (samplesOf.get(frame.rate) ?? 0) + frame.samples);
      inSequence = true;
      at = end;
    } else {
      inSequence = false;
      const next = bytes.indexOf(0xff, at + 1);
      at = next === -1 ? bytes.length : next;
    }
  }
  if (samplesOf.size === 0) throw new Unreadable('it contains no audio');
  return [...samplesOf].reduce((sum, [rate, samples]) => sum + samples / rate, 0);
}
