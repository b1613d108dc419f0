import type { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { CatalogEditModel, ImageTier } from '@svc/contracts/catalog';
import type { FormFile } from '@svc/api/route';
import type { ImageEdit } from '@svc/contracts/inference';
import { IMAGE_DEFAULTS, ImageEditRequest, ImageEditsRequest, ImageMultiEditRequest } from '@svc/api/images';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import {
  FILE_QUALITY,
  type ImageOffer,
  openAiOutput,
  qualityOf,
  refusal,
  refuseCount,
  refuseLongPrompt,
  resolutionOf,
  sizeIn,
  unknownIn,
} from './image-plan.js';
import { editLines } from './image-price.js';
import { enhancementOf } from './prompt-enhancer.js';
import { type ImageSize, editedSize, nearestSize, sizeOfRatio } from './image-size.js';

/** An image of a request that has not been read. */
export type ImageSource = FormFile | string;

/** The plan for a request to change images. */
export interface EditPlan extends ImageOffer {
  readonly sale: ModelSale<CatalogEditModel>;
  readonly images: readonly ImageSource[];
  /** The field that has them. */
  readonly field: 'image' | 'images';
  readonly mask: ImageSource | undefined;
  /** Without its images and its size. */
  readonly edit: Omit<ImageEdit, 'masked' | 'width' | 'height'>;
  /** The size of the result, by that of the first image. */
  readonly sizeFor: (first: ImageSize) => ImageSize;
}

type Plan = Omit<EditPlan, 'lines' | 'edit'> & {
  readonly tier: ImageTier;
  readonly edit: Pick<ImageEdit, 'prompt' | 'others'>;
};

/**
 * Plans a request of `POST /images/edits`. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE,
 * PRO_ONLY_MODEL, UNAUTHORIZED, INVALID_REQUEST.
 */
export function planEdits(request: ImageEditsRequest, caller: Caller, catalog: Catalog): EditPlan {
  const sale = sellModel(request.model ?? 'default', catalog.ofType('inpaint'), { caller, catalog });
  const { constraints } = sale.model;
  const count = request.n ?? IMAGE_DEFAULTS.count;
  refuseCount(count, 'n', sale);
  const resolution = constraints.defaultResolution ?? constraints.resolutions?.[0];
  const quality =
    constraints.qualities?.find((each) => each === request.quality) ?? constraints.defaultQuality;
  const size = sizeIn(request.size);
  const { image, images, mask } = request;
  if (!image === !images) throw refusal('image', 'image or images is required, and not both of them');
  return checked({
    sale,
    count,
    tier: { resolution, quality },
    output: openAiOutput(request),
    images: images ? images.map(({ image_url: url }) => url) : [image ?? []].flat(),
    field: images ? 'images' : 'image',
    mask: (mask && typeof mask === 'object' && 'image_url' in mask ? mask.image_url : mask) ?? undefined,
    edit: { prompt: request.prompt, others: unknownIn(request, ImageEditsRequest.shape) },
    sizeFor: (first) =>
      size ? nearestSize(size, constraints, resolution) : editedSize(first, constraints, resolution),
  });
}

/** Plans a request of `POST /image/edit`. Refuses the same. */
export function planEdit(request: ImageEditRequest, caller: Caller, catalog: Catalog): EditPlan {
  const name = request.model ?? request.modelId ?? 'default';
  const sale = sellModel(name, catalog.ofType('inpaint'), { caller, catalog });
  const { id, constraints } = sale.model;
  if (request.resolution && !constraints.resolutions)
    throw refusal('resolution', `${id} has no resolutions.`);
  const resolution = resolutionOf(request.resolution, sale.model);
  return checked({
    sale,
    count: 1,
    tier: { resolution, quality: constraints.defaultQuality },
    output: outputOf(request.output_format, resolution),
    images: [request.image],
    field: 'image',
    mask: undefined,
    edit: { prompt: request.prompt, others: unknownIn(request, ImageEditRequest.shape) },
    sizeFor: sizeForRatio(request.aspect_ratio, sale.model, resolution),
    enhancement: enhancementOf(request, sale, { caller, catalog }),
  });
}

/** Plans a request of `POST /image/multi-edit`. Refuses the same. */
export function planMultiEdit(request: ImageMultiEditRequest, caller: Caller, catalog: Catalog): EditPlan {
  const sale = sellModel(request.modelId ?? 'default', catalog.ofType('inpaint'), { caller, catalog });
  const resolution = resolutionOf(request.resolution, sale.model);
  return checked({
    sale,
    count: 1,
    tier: { resolution, quality: qualityOf(request.quality, sale.model) },
    output: outputOf(request.output_format, resolution),
    images: request.images,
    field: 'images',
    mask: undefined,
    edit: { prompt: request.prompt, others: unknownIn(request, ImageMultiEditRequest.shape) },
    sizeFor: sizeForRatio(request.aspect_ratio, sale.model, resolution),
    enhancement: enhancementOf(request, sale, { caller, catalog }),
  });
}

/** The plan with its prices, if the model can follow it. */
function checked({ tier, ...plan }: Plan): EditPlan {
  const { images: sources, field, mask, edit, count } = plan;
  const { model } = plan.sale;
  const { constraints } = model;
  refuseLongPrompt(edit.prompt, model);
  if (sources.length > constraints.maxInputImages)
    throw refusal(field, `${field} must be at most ${constraints.maxInputImages} images for ${model.id}`);
  if (mask !== undefined && !constraints.supportsMask)
    throw refusal('mask', `${model.id} does not support masks.`);
  return {
    ...plan,
    lines: (images) => editLines(model, { ...tier, sources: sources.length }, images),
    edit: { ...edit, count, ...(constraints.qualities && tier.quality && { quality: tier.quality }) },
  };
}

const outputOf = (
  format: ImageEditRequest['output_format'],
  resolution: ImageTier['resolution'],
): ImageOffer['output'] => ({
  format:
    format === 'jpg' ? 'jpeg' : (format ?? (resolution === '2K' || resolution === '4K' ? 'jpeg' : 'png')),
  quality: FILE_QUALITY,
});

function sizeForRatio(
  ratio: string | null | undefined,
  { id, constraints }: CatalogEditModel,
  resolution: ImageTier['resolution'],
): EditPlan['sizeFor'] {
  if (typeof ratio !== 'string' || ratio === 'auto')
    return (first) => editedSize(first, constraints, resolution);
  const { aspectRatios } = constraints;
  if (aspectRatios && !aspectRatios.includes(ratio))
    throw refusal('aspect_ratio', `${id} has the aspect ratios auto, ${aspectRatios.join(', ')}.`);
  if (!aspectRatios && !isModest(ratio))
    throw refusal('aspect_ratio', 'aspect_ratio must be auto or a ratio such as 16:9, from 1:4 to 4:1');
  return () => nearestSize(sizeOfRatio(ratio, constraints, resolution), constraints, resolution);
}

function isModest(ratio: string): boolean {
  const [, width = 0, height = 0] = /^(\d{1,2}):(\d{1,2})$/.exec(ratio)?.map(Number) ?? [];
  return width > 0 && width <= 4 * height && height <= 4 * width;
}
