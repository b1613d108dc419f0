import type { MediaKind } from '@svc/contracts/ports';

const at = (head: Buffer, offset: number, text: string): boolean =>
  head.toString('latin1', offset, offset + text.length) === text;

const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);

/** A frame of MPEG audio begins with eleven bits of one; its layer is never zero, unlike in AAC. */
function isMpegAudio(head: Buffer): boolean {
  const second = head[1] ?? 0;
  return head[0] === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}

const TYPES: Readonly<Record<MediaKind, readonly (readonly [string, (head: Buffer) => boolean])[]>> = {
  video: [
    ['video/mp4', (head) => at(head, 4, 'ftyp')],
    ['video/webm', (head) => head.subarray(0, 4).equals(EBML)],
  ],
  music: [
    ['audio/wav', (head) => at(head, 0, 'RIFF') && at(head, 8, 'WAVE')],
    ['audio/flac', (head) => at(head, 0, 'fLaC')],
    ['audio/ogg', (head) => at(head, 0, 'OggS')],
    ['audio/mp4', (head) => at(head, 4, 'ftyp')],
    ['audio/mpeg', (head) => at(head, 0, 'ID3') || isMpegAudio(head)],
  ],
};

/** The media type that the first bytes of an object show; `undefined` if it is no media of this kind. */
export function mediaType(head: Buffer, kind: MediaKind): string | undefined {
  return TYPES[kind].find(([, isType]) => isType(head))?.[0];
}
