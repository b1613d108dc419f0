import { Body, Controller, Req } from '@nestjs/common';
import {
  type PageRequest,
  type WebPageReply,
  WebPages,
  type WebQuery,
  type WebResultsReply,
  WebSearch,
  encodePage,
  encodeResults,
} from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, whileConnected } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';

/** The ports `WebSearch` and `WebPages` over HTTP. */
@Controller()
export class WebController {
  constructor(
    private readonly web: WebSearch,
    private readonly pages: WebPages,
  ) {}

  @Serves(routes.searchWeb)
  async search(@Req() request: FastifyRequest, @Body() query: WebQuery): Promise<WebResultsReply> {
    request.record.accountId = query.accountId;
    return whileConnected(request, (signal) => encodeResults(this.web.search(query, signal)));
  }

  @Serves(routes.readPage)
  async read(@Req() request: FastifyRequest, @Body() page: PageRequest): Promise<WebPageReply> {
    request.record.accountId = page.accountId;
    return whileConnected(request, (signal) => encodePage(this.pages.read(page, signal)));
  }
}
