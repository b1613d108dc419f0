import { Injectable } from '@nestjs/common';
import type { CallFile } from '@svc/contracts/inference';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import { Attachments } from '@svc/paid/attachments';
import type { EditPlan, ImageSource } from './edit-plan.js';
import type { BackendOrder } from './image-maker.js';
import type { ImageSize } from './image-size.js';

/** The most pixels of an image to change. Source: the public interface. */
const PIXELS_AT_MOST = 33_177_600;

const IS_URL = /^(?:data|https?):/i;

/** An image of a request, copied. */
export interface SourceImage extends ImageSize {
  readonly file: CallFile;
}

/** Reads the images that edits start from. Backends get copies that have only the pixels, upright. */
@Injectable()
export class EditImages {
  constructor(private readonly attachments: Attachments) {}

  /** The edit with its images. Refuses: INVALID_REQUEST with the field of an image, UNAVAILABLE. */
  async ready(plan: EditPlan, context: { accountId: string; signal: AbortSignal }): Promise<BackendOrder> {
    const { mask, sizeFor, field } = plan;
    const isOne = field === 'image' && plan.images.length === 1;
    // One after the other, so that a request with many does not occupy every thread.
    const images: SourceImage[] = [];
    for (const [index, image] of plan.images.entries())
      images.push(await this.read(image, { ...context, path: isOne ? [field] : [field, index] }));
    const [first] = images;
    if (!first) throw refusal([field], `${field} must be at least one image`);
    const order = { ...plan.edit, ...sizeFor(first), masked: mask !== undefined };
    const files = images.map(({ file }) => file);
    if (mask === undefined) return { work: { kind: 'image-edit', order, files } };
    const read = await this.read(mask, { ...context, path: ['mask'] });
    if (read.file.type !== 'image/png') throw refusal(['mask'], 'mask must be a PNG');
    if (read.width !== first.width || read.height !== first.height)
      throw refusal(['mask'], `mask must be as large as the image: ${first.width}×${first.height} pixels`);
    return { work: { kind: 'image-edit', order, files: [...files, read.file] } };
  }

  /** The copy of an image. Refuses the same. */
  async read(
    source: ImageSource,
    context: { path: Issue['path']; accountId: string; signal: AbortSignal },
  ): Promise<SourceImage> {
    const image = typeof source === 'string' ? urlOf(source) : source.bytes;
    const { bytes, width, height, format } = await this.attachments.copy(image, context);
    if (width * height > PIXELS_AT_MOST)
      throw refusal(context.path, `must have at most ${PIXELS_AT_MOST.toLocaleString('en')} pixels`);
    return { file: { name: `image.${format}`, type: `image/${format}`, bytes }, width, height };
  }
}

/** Text that is no URL is base64. */
const urlOf = (text: string): string => (IS_URL.test(text) ? text : `data:;base64,${text}`);

const refusal = (path: Issue['path'], message: string) => invalidRequest([{ code: 'custom', path, message }]);
