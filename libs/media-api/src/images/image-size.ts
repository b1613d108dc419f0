import type { CatalogImageModel, ImageResolution } from '@svc/contracts/catalog';
import { type Issue, invalidRequest } from '@svc/contracts/problems';

type Constraints = Pick<
  CatalogImageModel['constraints'],
  'aspectRatios' | 'defaultAspectRatio' | 'maxSide' | 'widthHeightDivisor'
>;

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The side of a square image. */
const SIDES: Readonly<Record<ImageResolution, number>> = { '1K': 1_024, '2K': 2_048, '4K': 4_096 };

const DEFAULT_SIDE = SIDES['1K'];

interface WantedSize {
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly aspect_ratio?: string | null | undefined;
}

const refusal = (path: string, message: string) => {
  const issue: Issue = { code: 'custom', path: [path], message };
  return invalidRequest([issue]);
};

/** The size of a request with pixels or a ratio. Refuses: INVALID_REQUEST. */
export function requestedSize(
  { id, constraints }: CatalogImageModel,
  wanted: WantedSize,
  resolution: ImageResolution | undefined,
): ImageSize {
  const { aspectRatios } = constraints;
  const { aspect_ratio: ratio, width, height } = wanted;
  if (!aspectRatios) {
    if (ratio !== null && ratio !== undefined)
      throw refusal('aspect_ratio', `${id} has no aspect ratios. Use width and height.`);
    return { width: side('width', constraints, width), height: side('height', constraints, height) };
  }
  if (ratio !== null && ratio !== undefined) {
    if (!aspectRatios.includes(ratio))
      throw refusal('aspect_ratio', `${id} has the aspect ratios ${aspectRatios.join(', ')}.`);
    return sizeOfRatio(ratio, constraints, resolution);
  }
  if (typeof width !== 'number' || typeof height !== 'number') return defaultSize(constraints, resolution);
  return nearestSize({ width, height }, constraints, resolution);
}

/** The size that the model has when a request names none. */
export function defaultSize(constraints: Constraints, resolution: ImageResolution | undefined): ImageSize {
  const { aspectRatios, defaultAspectRatio } = constraints;
  const ratio = defaultAspectRatio ?? aspectRatios?.[0];
  if (ratio !== undefined) return sizeOfRatio(ratio, constraints, resolution);
  const length = side('width', constraints, undefined);
  return { width: length, height: length };
}

/** The size of an edit of an image: its shape, with as many pixels as the resolution has. */
export function editedSize(
  image: ImageSize,
  constraints: Constraints,
  resolution: ImageResolution | undefined,
): ImageSize {
  if (constraints.aspectRatios) return nearestSize(image, constraints, resolution);
  const { width, height } = image;
  const scale = SIDES[resolution ?? '1K'] / Math.sqrt(width * height);
  return nearestSize({ width: width * scale, height: height * scale }, constraints, resolution);
}

/** The size of the model that is nearest to another. */
export function nearestSize(
  size: ImageSize,
  constraints: Constraints,
  resolution: ImageResolution | undefined,
): ImageSize {
  const { aspectRatios, maxSide } = constraints;
  if (!aspectRatios) {
    const scale = Math.min(1, maxSide / Math.max(size.width, size.height));
    return rounded({ width: size.width * scale, height: size.height * scale }, constraints);
  }
  const wanted = Math.log(size.width / size.height);
  const distance = (ratio: string): number => Math.abs(Math.log(quotientOf(ratio)) - wanted);
  const nearest = aspectRatios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
  return sizeOfRatio(nearest, constraints, resolution);
}

function side(name: 'width' | 'height', constraints: Constraints, pixels: number | null | undefined): number {
  const { maxSide, widthHeightDivisor: divisor } = constraints;
  if (typeof pixels !== 'number') return floored(Math.min(DEFAULT_SIDE, maxSide), divisor);
  if (pixels > maxSide) throw refusal(name, `${name} must be at most ${maxSide}`);
  if (pixels % divisor !== 0) throw refusal(name, `${name} must be a multiple of ${divisor}`);
  return pixels;
}

/** About as many pixels as the resolution has for a square. */
export function sizeOfRatio(
  ratio: string,
  constraints: Constraints,
  resolution: ImageResolution = '1K',
): ImageSize {
  const root = Math.sqrt(quotientOf(ratio));
  const length = SIDES[resolution];
  return rounded({ width: length * root, height: length / root }, constraints);
}

function quotientOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}

function rounded({ width, height }: ImageSize, { widthHeightDivisor: divisor }: Constraints): ImageSize {
  const near = (pixels: number): number => Math.max(1, Math.round(pixels / divisor)) * divisor;
  return { width: near(width), height: near(height) };
}

const floored = (pixels: number, divisor: number): number =>
  Math.max(1, Math.floor(pixels / divisor)) * divisor;
