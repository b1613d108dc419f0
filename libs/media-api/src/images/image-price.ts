import {
  type CatalogEditModel,
  type CatalogImageModel,
  type ImageTier,
  imageUsd,
} from '@svc/contracts/catalog';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { usdToNano } from '@svc/contracts/money';

const MILLION = 1_000_000n;

/** What a number of images costs: before they are made, the amount to hold; afterwards, the charge. */
export function imageLines(
  { id, pricing }: Pick<CatalogImageModel, 'id' | 'pricing'>,
  tier: ImageTier,
  images: number,
): ChargeLine[] {
  const usd = imageUsd(pricing, tier);
  if (usd === undefined) throw new RangeError(`${id} has no price for ${JSON.stringify(tier)}`);
  const { resolution, quality } = tier;
  const sku = [id, 'image', resolution, quality, 'unit'].filter((part) => part !== undefined).join('-');
  return [chargeLine({ sku, unit: 'image', priceNanoPerMillion: usdToNano(usd) * MILLION }, images)];
}

/** The same for edits that start from a number of images, some of which may cost extra. */
export function editLines(
  { id, pricing }: Pick<CatalogEditModel, 'id' | 'pricing'>,
  { sources, ...tier }: ImageTier & { readonly sources: number },
  images: number,
): ChargeLine[] {
  const { inpaint: generation, inputImages, ...tiers } = pricing;
  const lines = imageLines({ id, pricing: { generation, ...tiers } }, tier, images);
  const further = Math.max(0, sources - (inputImages?.included ?? sources)) * images;
  if (!inputImages || further === 0) return lines;
  const priceNanoPerMillion = usdToNano(inputImages.additional) * MILLION;
  return [
    ...lines,
    chargeLine({ sku: `${id}-image-input-unit`, unit: 'image', priceNanoPerMillion }, further),
  ];
}
