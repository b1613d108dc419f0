import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type {
  AugmentFile,
  AugmentFileReply,
  AugmentScrape,
  AugmentScrapeReply,
  AugmentSearch,
  AugmentSearchReply,
} from '@svc/api/augment';
import { type Caller, Retrieval, WebPages, WebSearch, perMinute } from '@svc/contracts/ports';
import { type Price, chargeLine } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewaySettings } from '@svc/paid';
import {
  type SearchPrices,
  extraPrice,
  searchPrices,
  type WholeOperation,
  type HttpPair,
  PaidOperations,
} from '@svc/paid/paid';
import { citationDate } from '@svc/text/web';
import { fileFailure, pageFailure, searchFailure } from './failures.js';

/** The size limit of a file: 25 MB, the contract's limit. */
const FILE_BYTES = 25_000_000;

/** Source: the public interface. */
const CHARACTERS_PER_TOKEN = 3.2;

/** Sells web searches, web pages and texts of files as separate operations. */
@Controller()
export class AugmentController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly catalog: Catalog,
    private readonly settings: GatewaySettings,
    private readonly webSearch: WebSearch,
    private readonly webPages: WebPages,
    private readonly retrieval: Retrieval,
  ) {}

  @Serves(routes.augmentSearch)
  async search(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { query, limit }: AugmentSearch,
  ): Promise<AugmentSearchReply> {
    const offer = { name: 'augment/search', prices: this.searchPrices() };
    return this.sell(offer, { request, reply }, async ({ accountId }, signal) => {
      const search = { accountId, text: query, count: limit };
      const { provider, pages } = await this.webSearch.search(search, signal).catch(searchFailure);
      const results = pages.map(({ title, url, content, publishedAt }) => ({
        title,
        url,
        content,
        date: citationDate(publishedAt) ?? '',
      }));
      return { result: { query, results }, backend: provider, isFree: results.length === 0 };
    });
  }

  @Serves(routes.augmentScrape)
  async scrape(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { url }: AugmentScrape,
  ): Promise<AugmentScrapeReply> {
    const offer = { name: 'augment/scrape', prices: only(extraPrice('webPage', this.catalog)) };
    return this.sell(offer, { request, reply }, async ({ accountId }, signal) => {
      const page = await this.webPages.read({ accountId, url }, signal).catch(pageFailure);
      return { result: { url: page.url, content: page.text, format: 'markdown' as const }, backend: 'web' };
    });
  }

  @Serves(routes.augmentParse)
  async parse(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { file, response_format: format }: AugmentFile,
  ): Promise<AugmentFileReply | string> {
    if (file.bytes.length > FILE_BYTES) fileFailure('the file is over 25 MB');
    const offer = { name: 'augment/text-parser', prices: only(extraPrice('textParser', this.catalog)) };
    const text = await this.sell(offer, { request, reply }, async ({ accountId }, signal) => {
      const read = await this.retrieval.extractText({ ...file, accountId }, signal).catch(fileFailure);
      return { result: read.text, backend: 'files' };
    });
    if (format === 'json') return { text, tokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN) };
    reply.header('content-type', 'text/plain; charset=utf-8');
    return text;
  }

  /** Refuses: NOT_AVAILABLE. */
  private searchPrices(): SearchPrices {
    const { search } = this.catalog;
    if (search) return searchPrices(search, this.catalog);
    throw new Problem('NOT_AVAILABLE', { message: 'Web search is not available on this deployment.' });
  }

  /** Holds the highest price and charges that of the backend that delivered the result. */
  private async sell<Result>(
    { name, prices }: Offer,
    pair: HttpPair,
    work: (caller: Caller, signal: AbortSignal) => Promise<SoldResult<Result>>,
  ): Promise<Result> {
    const { GATEWAY_AUGMENT_PER_MINUTE: requestsPerMinute } = this.settings.config;
    const operation: WholeOperation<Result> = {
      sale: {
        name,
        resource: { kind: 'route', name: `/api/v1/${name}` },
        limits: perMinute('user', { requestsPerMinute }),
      },
      amounts: {},
      hold: { amountNano: chargeLine(prices.highest, 1).amountNano },
      perform: async (caller, signal) => {
        const { result, backend, isFree = false } = await work(caller, signal);
        return { result, backend, lines: isFree ? [] : [chargeLine(prices.of(backend), 1)] };
      },
    };
    const { result } = await this.paid.run(operation, pair);
    return result;
  }
}

interface SoldResult<Result> {
  readonly result: Result;
  readonly backend: string;
  /** A search without results is not charged. */
  readonly isFree?: boolean;
}

interface Offer {
  readonly name: string;
  readonly prices: SearchPrices;
}

const only = (price: Price): SearchPrices => ({ of: () => price, highest: price });
