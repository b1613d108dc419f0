import { Body, Controller, Req, Res } from '@nestjs/common';
import {
  type AugmentFile,
  type AugmentFileReply,
  type AugmentScrape,
  type AugmentScrapeReply,
  type AugmentSearch,
  type AugmentSearchReply,
  type Caller,
  Retrieval,
  WebPages,
  WebSearch,
  routes,
} from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpPair, type PaidOperation, PaidOperations } from '../paid/paid-operations.js';
import { citationDate } from '../web/web-research.js';
import { NothingFound, fileFailure, pageFailure, searchFailure } from './failures.js';
import { type Offer, Offers } from './offers.js';

/** The size limit of a file: 25 MB, the contract's limit. */
const FILE_BYTES = 25_000_000;

/** Source: the public interface. */
const CHARACTERS_PER_TOKEN = 3.2;

/** Sells web searches, web pages and texts of files as separate operations. */
@Controller()
export class AugmentController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly offers: Offers,
    private readonly webSearch: WebSearch,
    private readonly webPages: WebPages,
    private readonly retrieval: Retrieval,
  ) {}

  @Answers(routes.augmentSearch)
  async search(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { query, limit }: AugmentSearch,
  ): Promise<AugmentSearchReply> {
    const sold = this.sell(this.offers.search(), { request, reply }, async ({ accountId }, signal) => {
      const asked = { accountId, text: query, count: limit };
      const { provider, pages } = await this.webSearch.search(asked, signal).catch(searchFailure);
      if (pages.length === 0) throw new NothingFound();
      const results = pages.map(({ title, url, content, publishedAt }) => ({
        title,
        url,
        content,
        date: citationDate(publishedAt) ?? '',
      }));
      return { result: { query, results }, backend: provider };
    });
    return sold.catch((error: unknown) => {
      if (error instanceof NothingFound) return { query, results: [] };
      throw error;
    });
  }

  @Answers(routes.augmentScrape)
  async scrape(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { url }: AugmentScrape,
  ): Promise<AugmentScrapeReply> {
    return this.sell(this.offers.page(), { request, reply }, async ({ accountId }, signal) => {
      const page = await this.webPages.read({ accountId, url }, signal).catch(pageFailure);
      return { result: { url: page.url, content: page.text, format: 'markdown' as const }, backend: 'web' };
    });
  }

  @Answers(routes.augmentParse)
  async parse(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { file, response_format: format }: AugmentFile,
  ): Promise<AugmentFileReply | string> {
    if (file.bytes.length > FILE_BYTES) fileFailure('the file is over 25 MB');
    const text = await this.sell(this.offers.file(), { request, reply }, async ({ accountId }, signal) => {
      const read = await this.retrieval.extractText({ ...file, accountId }, signal).catch(fileFailure);
      return { result: read.text, backend: 'files' };
    });
    if (format === 'json') return { text, tokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN) };
    reply.header('content-type', 'text/plain; charset=utf-8');
    return text;
  }

  private async sell<Result>(
    offer: Offer,
    pair: HttpPair,
    work: (caller: Caller, signal: AbortSignal) => Promise<{ result: Result; backend: string }>,
  ): Promise<Result> {
    const perform: PaidOperation<Result>['perform'] = async (caller, signal) => {
      const delivered = await work(caller, signal);
      return { ...delivered, lines: [offer.lineOf(delivered.backend)] };
    };
    const { result } = await this.paid.run({ ...offer, perform }, pair);
    return result;
  }
}
