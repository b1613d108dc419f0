import { Unreadable } from '@svc/threads';

/** What a thread is given: an image as bytes, or as the data URL that it came in. */
export interface ImageJob {
  readonly bytes?: Uint8Array;
  readonly url?: string;
  readonly bytesLimit: number;
  readonly pixelLimit: number;
  readonly timeoutMs: number;
  /** For WebAssembly, whose memory V8's limits leave out. */
  readonly memoryLimitBytes: number;
}

/** What a thread looks at. */
export interface ImageToRead extends ImageJob {
  readonly bytes: Uint8Array;
}

export interface ImageFacts {
  /** In pixels, as stored. */
  readonly width: number;
  readonly height: number;
  readonly format: 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'heic';
}

export interface ReadImage extends ImageFacts {
  /** The image as a plain base64 data URL of its true type; without it the one that came in is that already. */
  readonly url?: string;
}

/** Before an image is decoded, by the size that it claims. */
export function refuseOversized(width: number, height: number, { pixelLimit }: ImageJob): void {
  if (width * height > pixelLimit)
    throw new Unreadable(`the image has more than ${Math.floor(pixelLimit / 1_000_000)} megapixels`);
}
