import type { Extra, Search } from '@svc/contracts/catalog';
import type { Price } from '@svc/contracts/messages';
import { usdToNano } from '@svc/contracts/money';
import type { Catalog } from '@svc/catalog';

/** The extras are priced by the piece. */
const EXTRAS: Readonly<Record<Extra, Pick<Price, 'sku' | 'unit'>>> = {
  webSearch: { sku: 'web-search-request', unit: 'request' },
  webPage: { sku: 'web-scrape-page', unit: 'page' },
  xSearch: { sku: 'x-search-request', unit: 'request' },
  textParser: { sku: 'text-parser-request', unit: 'request' },
};

/** The price of an extra in the catalogue. */
export function extraPrice(extra: Extra, catalog: Catalog): Price {
  return priceEach(extra, catalog.extraNano(extra));
}

/** The prices of a search: it costs what its provider costs. */
export interface SearchPrices {
  readonly of: (provider: string) => Price;
  /** The highest of them. */
  readonly highest: Price;
}

export function searchPrices({ providers }: Search, catalog: Catalog): SearchPrices {
  const usual = extraPrice('webSearch', catalog);
  const prices = new Map(
    providers.map(({ name, kind, price }) => [
      name ?? kind,
      price === undefined ? usual : priceEach('webSearch', usdToNano(price)),
    ]),
  );
  const highest = [...prices.values()].reduce((most, price) =>
    price.priceNanoPerMillion > most.priceNanoPerMillion ? price : most,
  );
  return { of: (provider) => prices.get(provider) ?? highest, highest };
}

function priceEach(extra: Extra, nano: bigint): Price {
  return { ...EXTRAS[extra], priceNanoPerMillion: nano * 1_000_000n };
}
