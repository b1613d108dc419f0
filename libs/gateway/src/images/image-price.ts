import {
  type CatalogImageModel,
  type ChargeLine,
  type ImageTier,
  chargeLine,
  imageUsd,
  usdToNano,
} from '@svc/contracts';

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
