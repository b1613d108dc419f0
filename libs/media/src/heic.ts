import createLibheif from 'libheif-js/libheif-wasm/libheif-bundle.mjs';
import { Unreadable } from '@svc/threads';
import { type ImageFacts, type ImageToRead, refuseOversized } from './image-job.js';

const pageBytes = 65_536;
const grow = WebAssembly.Memory.prototype.grow;

interface Pixels {
  /** RGBA. */
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export async function heicFacts(job: ImageToRead): Promise<ImageFacts> {
  const { width, height } = await heicPixels(job);
  return { width, height, format: 'heic' };
}

/** Decodes HEVC in WebAssembly, which sharp does not include. The pixels are upright. */
export async function heicPixels(job: ImageToRead): Promise<Pixels> {
  boundMemory(job.memoryLimitBytes);
  // A new decoder for each image: WebAssembly never returns memory.
  const images = new (createLibheif().HeifDecoder)().decode(job.bytes);
  const image = images.find((each) => Boolean(each.is_primary())) ?? images[0];
  if (!image) throw new Unreadable('the image does not decode');
  const [width, height] = [image.get_width(), image.get_height()];
  refuseOversized(width, height, job);
  const { promise, resolve } = Promise.withResolvers<Pixels | null>();
  image.display({ data: new Uint8ClampedArray(width * height * 4), width, height }, resolve);
  const pixels = await promise;
  if (pixels === null) throw new Unreadable('the image does not decode');
  return pixels;
}

/** Decoders report out of memory when theirs can't grow. */
function boundMemory(bytes: number): void {
  function boundedGrow(this: WasmMemory, pages: number): number {
    if (this.buffer.byteLength + pages * pageBytes > bytes) throw new RangeError('over the memory limit');
    return grow.call(this, pages);
  }
  WebAssembly.Memory.prototype.grow = boundedGrow;
}
