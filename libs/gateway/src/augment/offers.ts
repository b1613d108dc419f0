import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import { Catalog } from '@svc/runtime';
import { GatewaySettings } from '../gateway.config.js';
import { searchPrices } from '../web/web-plan.js';
import type { Purchase } from '../web/web-research.js';

/** Something that is sold by itself. */
export interface Offer {
  /** The path where it is sold, such as `/augment/search`. */
  readonly path: string;
  readonly sku: Purchase['sku'];
  /** Nano-dollars that are held for it. */
  readonly priceAtMostNano: bigint;
  /** What it costs by the name of who delivers it, where that matters. */
  readonly pricesNano: ReadonlyMap<string, bigint>;
  /** How many an account may buy in a minute. */
  readonly perMinute: number;
}

const ONE_PRICE: Offer['pricesNano'] = new Map();

/** What is sold by itself, and at which prices: the catalogue's at the moment. */
@Injectable()
export class Offers {
  constructor(
    private readonly catalog: Catalog,
    private readonly settings: GatewaySettings,
  ) {}

  /** Refuses: NOT_AVAILABLE. */
  search(): Offer {
    const { search } = this.catalog;
    if (!search)
      throw new Problem('NOT_AVAILABLE', { message: 'Web search is not available on this deployment.' });
    const prices = searchPrices(search, this.catalog);
    return { path: '/augment/search', sku: 'web-search-request', ...prices, perMinute: this.perMinute };
  }

  page(): Offer {
    const priceAtMostNano = this.catalog.extraNano('webPage');
    return { ...this.terms('/augment/scrape', 'web-scrape-page'), priceAtMostNano };
  }

  file(): Offer {
    const priceAtMostNano = this.catalog.extraNano('textParser');
    return { ...this.terms('/augment/text-parser', 'text-parser-request'), priceAtMostNano };
  }

  private terms(path: string, sku: Offer['sku']): Omit<Offer, 'priceAtMostNano'> {
    return { path, sku, pricesNano: ONE_PRICE, perMinute: this.perMinute };
  }

  private get perMinute(): number {
    return this.settings.config.GATEWAY_AUGMENT_PER_MINUTE;
  }
}
