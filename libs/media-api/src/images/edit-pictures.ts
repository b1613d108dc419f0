import { Injectable } from '@nestjs/common';
import type { CallFile } from '@svc/contracts/inference';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import { Attachments } from '@svc/paid/attachments';
import type { EditPlan, PictureSource } from './edit-plan.js';
import type { PictureOrder } from './image-maker.js';
import type { ImageSize } from './image-size.js';

/** The most pixels of a picture to change. Source: the public interface. */
const PIXELS_AT_MOST = 33_177_600;

const IS_URL = /^(?:data|https?):/i;

/** A picture of a request, copied. */
export interface ReadPicture extends ImageSize {
  readonly file: CallFile;
}

/** Reads the pictures that edits start from. Backends get copies that have only the pixels, upright. */
@Injectable()
export class EditPictures {
  constructor(private readonly attachments: Attachments) {}

  /** The edit with its pictures. Refuses: INVALID_REQUEST with the field of a picture, UNAVAILABLE. */
  async ready(plan: EditPlan, context: { accountId: string; signal: AbortSignal }): Promise<PictureOrder> {
    const { mask, sizeFor, field } = plan;
    const isOne = field === 'image' && plan.pictures.length === 1;
    // One after the other, so that a request with many does not occupy every thread.
    const pictures: ReadPicture[] = [];
    for (const [index, picture] of plan.pictures.entries())
      pictures.push(await this.read(picture, { ...context, path: isOne ? [field] : [field, index] }));
    const [first] = pictures;
    if (!first) throw refusal([field], `${field} must be at least one picture`);
    const order = { ...plan.edit, ...sizeFor(first), masked: mask !== undefined };
    const files = pictures.map(({ file }) => file);
    if (mask === undefined) return { work: { kind: 'image-edit', order, files } };
    const read = await this.read(mask, { ...context, path: ['mask'] });
    if (read.file.type !== 'image/png') throw refusal(['mask'], 'mask must be a PNG');
    if (read.width !== first.width || read.height !== first.height)
      throw refusal(['mask'], `mask must be as large as the picture: ${first.width}×${first.height} pixels`);
    return { work: { kind: 'image-edit', order, files: [...files, read.file] } };
  }

  /** The copy of a picture. Refuses the same. */
  async read(
    source: PictureSource,
    context: { path: Issue['path']; accountId: string; signal: AbortSignal },
  ): Promise<ReadPicture> {
    const picture = typeof source === 'string' ? urlOf(source) : source.bytes;
    const { bytes, width, height, format } = await this.attachments.copy(picture, context);
    if (width * height > PIXELS_AT_MOST)
      throw refusal(context.path, `must have at most ${PIXELS_AT_MOST.toLocaleString('en')} pixels`);
    return { file: { name: `picture.${format}`, type: `image/${format}`, bytes }, width, height };
  }
}

/** Text that is no URL is base64. */
const urlOf = (text: string): string => (IS_URL.test(text) ? text : `data:;base64,${text}`);

const refusal = (path: Issue['path'], message: string) => invalidRequest([{ code: 'custom', path, message }]);
