import type { MediaKind } from '@svc/contracts/ports';
import { HEAD_BYTES } from './media-store.js';

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

/** The media type that the first bytes of an object show. Throws TypeError if it is no media of this kind. */
export function mediaType(head: Buffer, kind: MediaKind): string {
  const [type] = TYPES[kind].find(([, isType]) => isType(head)) ?? [];
  if (type === undefined) throw new TypeError(`the result is no ${kind}`);
  return type;
}

/** Content of which nothing passes before its first bytes show media of this kind. Throws TypeError. */
export async function* ofKind(
  content: AsyncIterable<Uint8Array>,
  kind: MediaKind,
): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let isKnown = false;
  for await (const part of content) {
    if (isKnown) {
      yield part;
      continue;
    }
    head = Buffer.concat([head, part]);
    if (head.length < HEAD_BYTES) continue;
    mediaType(head, kind);
    isKnown = true;
    yield head;
  }
  if (isKnown) return;
  mediaType(head, kind);
  yield head;
}
