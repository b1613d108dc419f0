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
  routes,
} from '@svc/contracts';
import { Answers, whileAsked } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';

/** The ports `WebSearch` and `WebPages` over HTTP. */
@Controller()
export class WebController {
  constructor(
    private readonly web: WebSearch,
    private readonly pages: WebPages,
  ) {}

  @Answers(routes.searchWeb)
  async search(@Req() request: FastifyRequest, @Body() query: WebQuery): Promise<WebResultsReply> {
    request.record.accountId = query.accountId;
    return whileAsked(request, (signal) => encodeResults(this.web.search(query, signal)));
  }

  @Answers(routes.readPage)
  async read(@Req() request: FastifyRequest, @Body() page: PageRequest): Promise<WebPageReply> {
    request.record.accountId = page.accountId;
    return whileAsked(request, (signal) => encodePage(this.pages.read(page, signal)));
  }
}
