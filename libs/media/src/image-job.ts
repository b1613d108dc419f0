import { Unreadable } from '@svc/threads';

/** The input of a thread: an image as bytes, or as its original data URL. */
export interface ImageJob {
  readonly bytes?: Uint8Array;
  readonly url?: string;
  readonly bytesLimit: number;
  readonly pixelLimit: number;
  readonly timeoutMs: number;
  /** Makes a new file of the image, or a copy that has only its pixels. */
  readonly output?: ImageOutput | 'copy';
  /** For WebAssembly, whose memory V8's limits do not cover. */
  readonly memoryLimitBytes: number;
}

/** The file to make of an image. It has no metadata but the given. */
export interface ImageOutput {
  readonly format: 'png' | 'jpeg' | 'webp';
  /** Of `jpeg` and `webp`, in percent. */
  readonly quality: number;
  /** The tags of its first EXIF directory, by name. */
  readonly exif?: Readonly<Record<string, string>>;
}

/** An image with its bytes decoded. */
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
  /** The image as a plain base64 data URL of its true type; absent if the original already is that. */
  readonly url?: string;
  /** The new file, if one was requested. */
  readonly file?: Uint8Array;
}

/** Called before decoding, with the claimed size. */
export function refuseOversized(width: number, height: number, { pixelLimit }: ImageJob): void {
  if (width * height > pixelLimit)
    throw new Unreadable(`the image has more than ${Math.floor(pixelLimit / 1_000_000)} megapixels`);
}
