import type { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { CatalogUpscaleModel } from '@svc/contracts/catalog';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { IMAGE_DEFAULTS, type ImageCutoutRequest, type ImageUpscaleRequest } from '@svc/api/images';
import { usdToNano } from '@svc/contracts/money';
import { sellModel } from '@svc/paid/paid';
import type { SourceImage } from './edit-images.js';
import type { ImageSource } from './edit-plan.js';
import type { BackendOrder } from './image-maker.js';
import { FILE_QUALITY, type ImageOffer, refusal } from './image-plan.js';
import { imageLines } from './image-price.js';

const MILLION = 1_000_000n;

/** The most pixels of an enlarged image. Source: the public interface. */
const UPSCALED_PIXELS_AT_MOST = 16_777_216;

/** The largest factor at the lower price. */
const DOUBLE = 2;

const PNG = { format: 'png', quality: FILE_QUALITY } as const;

/** The plan for a request to change one image without a prompt. */
export interface ChangePlan extends ImageOffer {
  readonly image: ImageSource;
  /** The field that has it. */
  readonly field: 'image' | 'image_url';
  readonly orderFor: (source: SourceImage) => BackendOrder;
}

/**
 * Plans a request of `POST /image/upscale`. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE,
 * PRO_ONLY_MODEL, UNAUTHORIZED. Its `orderFor` refuses images that can't become larger: INVALID_REQUEST.
 */
export function planUpscale(request: ImageUpscaleRequest, caller: Caller, catalog: Catalog): ChangePlan {
  const sale = sellModel(request.model ?? 'default', catalog.ofType('upscale'), { caller, catalog });
  const scale = request.scale ?? IMAGE_DEFAULTS.scale;
  const linesAt = (factor: number) => (images: number) => upscaleLines(sale.model, factor, images);
  return {
    sale,
    count: 1,
    lines: linesAt(scale),
    output: PNG,
    image: request.image,
    field: 'image',
    orderFor(source) {
      const { width, height, file } = source;
      const factor = Math.min(scale, largestFactor(source));
      if (factor <= 1)
        throw refusal('image', `image must have fewer than ${UPSCALED_PIXELS_AT_MOST} pixels to be enlarged`);
      return {
        work: { kind: 'image-upscale', order: { count: 1, factor }, files: [file] },
        atLeast: { width: enlarged(width, factor), height: enlarged(height, factor) },
        lines: linesAt(factor),
      };
    },
  };
}

/** Plans a request of `POST /image/background-remove`. Refuses the same, and INVALID_REQUEST. */
export function planCutout(request: ImageCutoutRequest, caller: Caller, catalog: Catalog): ChangePlan {
  const { image, image_url: url } = request;
  const given = image ?? url;
  if (!given || (image && url))
    throw refusal('image', 'image or image_url is required, and not both of them');
  const name = request.model ?? 'background-removal';
  const sale = sellModel(name, catalog.ofType('image'), { caller, catalog });
  const { defaultResolution, resolutions, defaultQuality } = sale.model.constraints;
  const tier = { resolution: defaultResolution ?? resolutions?.[0], quality: defaultQuality };
  return {
    sale,
    count: 1,
    lines: (images) => imageLines(sale.model, tier, images),
    output: PNG,
    image: given,
    field: image ? 'image' : 'image_url',
    orderFor: ({ width, height, file }) => ({
      work: { kind: 'image-cutout', order: { count: 1 }, files: [file] },
      atLeast: { width, height },
    }),
  };
}

/** In hundredths, so that rounding never makes an image too large. */
const largestFactor = ({ width, height }: { readonly width: number; readonly height: number }): number =>
  Math.floor(100 * Math.sqrt(UPSCALED_PIXELS_AT_MOST / (width * height))) / 100;

/** Some servers make only sides that are multiples of 8. */
const enlarged = (side: number, factor: number): number => Math.floor((side * factor) / 8) * 8;

function upscaleLines({ id, pricing }: CatalogUpscaleModel, factor: number, images: number): ChargeLine[] {
  const step = factor <= DOUBLE ? '2x' : '4x';
  const priceNanoPerMillion = usdToNano(pricing.upscale[step]) * MILLION;
  return [chargeLine({ sku: `${id}-upscale-${step}`, unit: 'image', priceNanoPerMillion }, images)];
}
