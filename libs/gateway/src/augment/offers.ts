import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { type ChargeLine, Problem } from '@svc/contracts';
import { GatewaySettings } from '../gateway.config.js';
import type { PaidOperation } from '../paid/paid-operations.js';
import { purchaseLine } from '../paid/price.js';
import { searchPrices } from '../web/web-plan.js';
import type { Purchase } from '../web/web-research.js';

/** An operation for sale: everything except how it is performed. */
export interface Offer extends Omit<PaidOperation<unknown>, 'perform'> {
  /** The charge line, by the name of the backend that delivered the result. */
  readonly lineOf: (backend: string) => ChargeLine;
}

/** The operations for sale, at the catalogue's current prices. */
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
    const { priceAtMostNano, pricesNano } = searchPrices(search, this.catalog);
    return this.offer('augment/search', 'web-search-request', {
      atMostNano: priceAtMostNano,
      priceOf: (provider) => pricesNano.get(provider) ?? priceAtMostNano,
    });
  }

  page(): Offer {
    const atMostNano = this.catalog.extraNano('webPage');
    return this.offer('augment/scrape', 'web-scrape-page', { atMostNano, priceOf: () => atMostNano });
  }

  file(): Offer {
    const atMostNano = this.catalog.extraNano('textParser');
    return this.offer('augment/text-parser', 'text-parser-request', {
      atMostNano,
      priceOf: () => atMostNano,
    });
  }

  private offer(
    name: string,
    sku: Purchase['sku'],
    { atMostNano, priceOf }: { atMostNano: bigint; priceOf: (backend: string) => bigint },
  ): Offer {
    const { GATEWAY_AUGMENT_PER_MINUTE: requestsPerMinute } = this.settings.config;
    return {
      name,
      limitedAs: `endpoint:api/v1/${name}`,
      limits: { user: { requestsPerMinute, tokensPerMinute: Number.MAX_SAFE_INTEGER } },
      tokens: 0,
      atMostNano,
      lineOf: (backend) => purchaseLine({ sku, units: 1, priceNano: priceOf(backend) }),
    };
  }
}
