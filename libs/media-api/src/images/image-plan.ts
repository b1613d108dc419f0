import type { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type {
  CatalogEditModel,
  CatalogImageModel,
  CatalogUpscaleModel,
  ImageTier,
} from '@svc/contracts/catalog';
import type { ChargeLine } from '@svc/contracts/messages';
import { IMAGE_DEFAULTS, ImageGenerationRequest, ImageRequest } from '@svc/api/images';
import type { ImageOrder } from '@svc/contracts/inference';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { ImageOutput } from '@svc/media';
import { refuseUrls } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import { type ImageSize, defaultSize, nearestSize, requestedSize } from './image-size.js';
import { imageLines } from './image-price.js';
import { type Enhancement, enhancementOf } from './prompt-enhancer.js';
import { styled } from './styles.js';

/** Models that draw what a prompt says. */
type DrawingModel = CatalogImageModel | CatalogEditModel;

/** How images are sold. */
export interface ImageOffer {
  readonly sale: ModelSale<DrawingModel | CatalogUpscaleModel>;
  /** How many images are requested. */
  readonly count: number;
  /** What a number of images costs. */
  readonly lines: (images: number) => ChargeLine[];
  readonly output: ImageOutput;
  /** Absent if the prompt stays as it is. */
  readonly enhancement?: Enhancement | undefined;
}

/** The plan for a request for images. */
export interface ImagePlan extends ImageOffer {
  readonly order: ImageOrder;
}

/** The quality of JPEG and WebP files, unless a request chooses another. */
export const FILE_QUALITY = 90;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Plans a request of `POST /image/generate`. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE,
 * PRO_ONLY_MODEL, UNAUTHORIZED, INVALID_REQUEST.
 */
export function planImage(request: ImageRequest, caller: Caller, catalog: Catalog): ImagePlan {
  const sale = sellModel(request.model, catalog.ofType('image'), { caller, catalog });
  const { model } = sale;
  const count = request.variants ?? IMAGE_DEFAULTS.count;
  refuseCount(count, 'variants', sale);
  if (request.return_binary === true && count > 1)
    throw refusal('variants', 'variants must be 1 with return_binary, since a file has one image');
  const prompt = promptOf(request, model);
  const tier = {
    resolution: resolutionOf(request.resolution, model),
    quality: qualityOf(request.quality, model),
  };
  const order = {
    ...shared(model, { prompt, count, tier }),
    negativePrompt: request.negative_prompt ?? undefined,
    ...requestedSize(model, request, tier.resolution),
    steps: stepsOf(request, model),
    guidance: request.cfg_scale ?? undefined,
    seed: request.seed ?? undefined,
    others: unknownIn(request, ImageRequest.shape),
  };
  const { style_preset: style } = request;
  const enhancement = enhancementOf(request, sale, { caller, catalog });
  const exif = { ImageDescription: request.prompt, Software: model.id };
  return {
    sale,
    order,
    count,
    enhancement: enhancement && {
      ...enhancement,
      applied: (text) => (style ? styled(text, style) : undefined) ?? text,
    },
    lines: (images) => imageLines(model, tier, images),
    output: {
      format: request.format ?? IMAGE_DEFAULTS.format,
      quality: FILE_QUALITY,
      ...(request.embed_exif_metadata === true && { exif }),
    },
  };
}

/** Plans a request of `POST /images/generations`. Refuses the same. */
export function planGeneration(request: ImageGenerationRequest, caller: Caller, catalog: Catalog): ImagePlan {
  const sale = sellModel(request.model ?? 'default', catalog.ofType('image'), { caller, catalog });
  const { model } = sale;
  const { constraints } = model;
  const count = request.n ?? IMAGE_DEFAULTS.count;
  refuseCount(count, 'n', sale);
  refuseLongPrompt(request.prompt, model);
  const resolution = constraints.defaultResolution ?? constraints.resolutions?.[0];
  const quality =
    constraints.qualities?.find((each) => each === request.quality) ?? constraints.defaultQuality;
  const tier = { resolution, quality };
  const size = sizeIn(request.size);
  return {
    sale,
    order: {
      ...shared(model, { prompt: request.prompt, count, tier }),
      ...(size ? nearestSize(size, constraints, resolution) : defaultSize(constraints, resolution)),
      steps: constraints.steps?.default,
      others: unknownIn(request, ImageGenerationRequest.shape),
    },
    count,
    lines: (images) => imageLines(model, tier, images),
    output: openAiOutput(request),
  };
}

export const openAiOutput = ({
  output_format: format,
  output_compression: quality,
}: Pick<ImageGenerationRequest, 'output_format' | 'output_compression'>): ImageOutput => ({
  format: format ?? IMAGE_DEFAULTS.outputFormat,
  // A file of quality 0 shows nothing.
  quality: Math.max(1, quality ?? FILE_QUALITY),
});

/** Of a size such as `1024x1536`; `undefined` for `auto`. */
export function sizeIn(size: string | null | undefined): ImageSize | undefined {
  const [width = 0, height = 0] = size?.split('x').map(Number) ?? [];
  return height > 0 ? { width, height } : undefined;
}

/** The backend gets a quality only if the model has several. */
function shared(
  { constraints }: CatalogImageModel,
  { prompt, count, tier }: { prompt: string; count: number; tier: ImageTier },
): Pick<ImageOrder, 'prompt' | 'count' | 'quality'> {
  return { prompt, count, ...(constraints.qualities && tier.quality && { quality: tier.quality }) };
}

function promptOf(request: ImageRequest, model: CatalogImageModel): string {
  refuseLongPrompt(request.prompt, model);
  refuseLongPrompt(request.negative_prompt ?? '', model, 'negative_prompt');
  const { style_preset: style } = request;
  if (style === null || style === undefined) return request.prompt;
  const prompt = styled(request.prompt, style);
  if (prompt === undefined)
    throw refusal('style_preset', 'style_preset must be a name from GET /api/v1/image/styles');
  return prompt;
}

export function refuseLongPrompt(
  prompt: string,
  { id, constraints }: DrawingModel,
  field: 'prompt' | 'negative_prompt' = 'prompt',
): void {
  const most = constraints.promptCharacterLimit;
  if (prompt.length > most) throw refusal(field, `must have at most ${most} characters for ${id}`);
}

/** A model without resolutions ignores them. */
export function resolutionOf(
  resolution: ImageTier['resolution'] | null,
  { id, constraints }: DrawingModel,
): ImageTier['resolution'] {
  const { resolutions, defaultResolution } = constraints;
  if (!resolutions) return undefined;
  if (resolution && !resolutions.includes(resolution))
    throw refusal('resolution', `${id} has ${optionsOf('resolutions', resolutions)}.`);
  return resolution ?? defaultResolution ?? resolutions[0];
}

export function qualityOf(
  quality: ImageTier['quality'] | null,
  { id, constraints }: DrawingModel,
): ImageTier['quality'] {
  const { qualities, defaultQuality } = constraints;
  if (quality && !qualities?.includes(quality))
    throw refusal('quality', `${id} has ${optionsOf('qualities', qualities)}.`);
  return quality ?? defaultQuality;
}

/** A model without steps ignores them. */
function stepsOf({ steps }: ImageRequest, { id, constraints }: CatalogImageModel): number | undefined {
  const { steps: bounds } = constraints;
  if (!bounds || typeof steps !== 'number') return bounds?.default;
  if (steps > bounds.max) throw refusal('steps', `${id} has at most ${bounds.max} steps.`);
  return steps;
}

/** A number of images that a whole window of a limit does not allow would never be admitted. */
export function refuseCount(
  count: number,
  field: 'n' | 'variants',
  { model, limits }: ModelSale<DrawingModel>,
): void {
  const most = limits.reduce(
    (least, { unit, max }) => (unit === 'requests' ? Math.min(least, max) : least),
    model.constraints.maxImages,
  );
  if (count > 1 && count > most) throw refusal(field, `${field} must be at most ${most} for ${model.id}`);
}

const optionsOf = (what: string, options: readonly string[] | undefined): string =>
  options ? `the ${what} ${options.join(', ')}` : `no ${what}`;

/** The fields for the model server. Refuses URLs. */
export function unknownIn(request: Fields, known: Fields): Record<string, unknown> {
  const unknown = Object.entries(request).filter(([name]) => !Object.hasOwn(known, name));
  refuseUrls(unknown);
  return Object.fromEntries(unknown);
}

export const refusal = (field: string, message: string): Problem =>
  invalidRequest([{ code: 'custom', path: [field], message }]);
