import { Injectable } from '@nestjs/common';
import { type ChargeLine, type Price, Problem, chargeLine } from '@svc/contracts';
import { Catalog } from '@svc/catalog';
import { GatewaySettings } from '../gateway.config.js';
import type { PaidOperation } from '../paid/paid-operations.js';
import { type SearchPrices, extraPrice, searchPrices } from '../web/extra-prices.js';

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
    return this.offer('augment/search', searchPrices(search, this.catalog));
  }

  page(): Offer {
    return this.offer('augment/scrape', only(extraPrice('webPage', this.catalog)));
  }

  file(): Offer {
    return this.offer('augment/text-parser', only(extraPrice('textParser', this.catalog)));
  }

  private offer(name: string, prices: SearchPrices): Offer {
    const { GATEWAY_AUGMENT_PER_MINUTE: requestsPerMinute } = this.settings.config;
    return {
      name,
      limitedAs: `endpoint:api/v1/${name}`,
      limits: { user: { requestsPerMinute, tokensPerMinute: Number.MAX_SAFE_INTEGER } },
      tokens: 0,
      atMostNano: chargeLine(prices.highest, 1).amountNano,
      lineOf: (backend) => chargeLine(prices.of(backend), 1),
    };
  }
}

const only = (price: Price): SearchPrices => ({ of: () => price, highest: price });
