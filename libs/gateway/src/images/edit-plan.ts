import type { Catalog } from '@svc/catalog';
import {
  type Caller,
  type FormFile,
  type ImageEdit,
  ImageEditsRequest,
  type ImageTier,
} from '@svc/contracts';
import { findModel } from '../models/model-lookup.js';
import {
  type ImageSale,
  openAiOutput,
  refusal,
  refuseCount,
  refuseLongPrompt,
  sizeIn,
  unknownIn,
  usable,
} from './image-plan.js';
import { editLines } from './image-price.js';
import { type ImageSize, editedSize, nearestSize } from './image-size.js';

/** A picture of a request that has not been read. */
export type PictureSource = FormFile | string;

/** The plan for a request to change pictures. */
export interface EditPlan extends ImageSale {
  readonly pictures: readonly PictureSource[];
  readonly mask: PictureSource | undefined;
  /** Without its pictures and its size. */
  readonly edit: Omit<ImageEdit, 'masked' | 'width' | 'height'>;
  /** The size of the result, by that of the first picture. */
  readonly sizeFor: (picture: ImageSize) => ImageSize;
}

/**
 * Plans a request of `POST /images/edits`. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE,
 * PRO_ONLY_MODEL, UNAUTHORIZED, INVALID_REQUEST.
 */
export function planEdits(request: ImageEditsRequest, caller: Caller, catalog: Catalog): EditPlan {
  const sale = usable(findModel(request.model ?? 'default', catalog.ofType('inpaint')), caller, catalog);
  const { model, limits } = sale;
  const { constraints } = model;
  const count = request.n ?? 1;
  refuseCount(count, 'n', { model, limits });
  refuseLongPrompt(request.prompt, model);
  const pictures = [request.image].flat();
  if (pictures.length > constraints.maxInputImages)
    throw refusal('image', `image must be at most ${constraints.maxInputImages} pictures for ${model.id}`);
  const mask = request.mask ?? undefined;
  if (mask !== undefined && !constraints.supportsMask)
    throw refusal('mask', `${model.id} does not support masks.`);
  const resolution = constraints.defaultResolution ?? constraints.resolutions?.[0];
  const quality =
    constraints.qualities?.find((each) => each === request.quality) ?? constraints.defaultQuality;
  const tier: ImageTier = { resolution, quality };
  const size = sizeIn(request.size);
  return {
    ...sale,
    count,
    lines: (images) => editLines(model, { ...tier, pictures: pictures.length }, images),
    output: openAiOutput(request),
    pictures,
    mask,
    edit: {
      prompt: request.prompt,
      count,
      ...(constraints.qualities && quality && { quality }),
      others: unknownIn(request, ImageEditsRequest.shape),
    },
    sizeFor: (picture) =>
      size ? nearestSize(size, constraints, resolution) : editedSize(picture, constraints, resolution),
  };
}
