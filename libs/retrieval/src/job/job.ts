import type { ExtractedText, ImageFacts } from '@svc/contracts';

export interface TextJob {
  readonly kind: 'text';
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
  readonly textLimit: number;
}

export interface ImageJob {
  readonly kind: 'image';
  readonly bytes: Uint8Array;
  readonly pixelLimit: number;
  readonly timeoutMs: number;
  /** For WebAssembly, whose memory V8's limits leave out. */
  readonly memoryLimitBytes: number;
}

export type Job = TextJob | ImageJob;

/** What a thread tells about a job. A refusal is the file's fault and in words for the client. */
export type Answer =
  | { readonly kind: 'text'; readonly value: ExtractedText }
  | { readonly kind: 'image'; readonly value: ImageFacts }
  | { readonly kind: 'refused'; readonly reason: string };

/** Inside a thread: the file can't be read, for a reason that the client may hear. */
export class Unreadable extends Error {
  constructor(readonly reason: string) {
    super(reason);
    this.name = 'Unreadable';
  }
}

export const DAMAGED = 'the file is damaged';
export const TOO_COMPLEX = 'the file is too large or too complex';

/** Before an image is decoded, by the size that it claims. */
export function refuseOversized(width: number, height: number, { pixelLimit }: ImageJob): void {
  if (width * height > pixelLimit)
    throw new Unreadable(`the image has more than ${Math.floor(pixelLimit / 1_000_000)} megapixels`);
}
