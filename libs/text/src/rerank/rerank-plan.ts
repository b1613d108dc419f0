import type { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { CatalogRerankModel } from '@svc/contracts/catalog';
import type { RankOrder, Ranks } from '@svc/contracts/inference';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { usdToNano } from '@svc/contracts/money';
import { invalidRequest } from '@svc/contracts/problems';
import { RerankRequest } from '@svc/api/rerank';
import { unknownFieldsOf } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import type { InputSale } from '../inputs/input-sales.js';
import { type MeasuredText, inputBounds, measured } from '../inputs/input-tokens.js';

/** The plan for a request to rank documents. */
export interface RerankPlan extends Pick<InputSale<Ranks>, 'bounds' | 'line'> {
  readonly sale: ModelSale<CatalogRerankModel>;
  readonly order: RankOrder;
}

/** A search has this many documents; a longer document counts as several. Source: Cohere's terms. */
const DOCUMENTS_PER_SEARCH = 100;
const TOKENS_PER_DOCUMENT = 500;

const othersOf = unknownFieldsOf(RerankRequest.shape);

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * INVALID_REQUEST.
 */
export function planRerank(request: RerankRequest, caller: Caller, catalog: Catalog): RerankPlan {
  const sale = sellModel(request.model, catalog.ofType('rerank'), { caller, catalog });
  const { maxInputTokens } = sale.model;
  const query = measured(request.query);
  const texts = request.documents.map((one) => measured(typeof one === 'string' ? one : one.text));
  const long = texts.findIndex(({ tokens }) => query.tokens + tokens > maxInputTokens);
  if (long >= 0) {
    const path = query.tokens > maxInputTokens ? ['query'] : ['documents', long];
    const message = `The query and a document exceed the maximum of ${maxInputTokens} tokens`;
    throw invalidRequest([{ code: 'too_big', path, message }]);
  }
  return {
    sale,
    order: { query: query.text, documents: texts.map(({ text }) => text), others: othersOf(request) },
    bounds: inputBounds(texts, maxInputTokens, query),
    line: lineOf(sale.model, query, texts),
  };
}

/** The price of the tokens, or of the searches, of which long documents need more. */
function lineOf(
  { id, pricing }: CatalogRerankModel,
  query: MeasuredText,
  texts: readonly MeasuredText[],
): (tokens: number, made?: Ranks) => ChargeLine {
  const { input = 0, perSearch } = pricing;
  if (perSearch === undefined) {
    const priceNanoPerMillion = usdToNano(input);
    return (tokens) =>
      chargeLine({ sku: `${id}-rerank-input-mtoken`, unit: 'token', priceNanoPerMillion }, tokens);
  }
  const price = {
    sku: `${id}-rerank-search`,
    unit: 'search',
    priceNanoPerMillion: usdToNano(perSearch) * 1_000_000n,
  } as const;
  const least = Math.ceil(texts.length / DOCUMENTS_PER_SEARCH);
  const parts = texts.map(({ bytes }) => Math.ceil((query.bytes + bytes + 1) / TOKENS_PER_DOCUMENT));
  const most = Math.ceil(parts.reduce((sum, count) => sum + count, 0) / DOCUMENTS_PER_SEARCH);
  return (_, made) => {
    const { searches = least } = made ?? { searches: most };
    return chargeLine(price, searches < least || searches > most ? least : searches);
  };
}
