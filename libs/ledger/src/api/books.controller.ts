import { Body, Controller, Res } from '@nestjs/common';
import { Books, BOOKS_WIRE, type PortCalls, USAGE_HISTORY_WIRE, UsageHistory } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** The books and their history over HTTP. */
@Controller()
export class BooksController {
  private readonly booksAnswers: PortResponses<Books>;
  private readonly historyAnswers: PortResponses<UsageHistory>;

  constructor(books: Books, history: UsageHistory, logger: RootLogger) {
    this.booksAnswers = new PortResponses(books, BOOKS_WIRE, logger);
    this.historyAnswers = new PortResponses(history, USAGE_HISTORY_WIRE, logger);
  }

  @Serves(routes.callBooks)
  books(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.booksAnswers.response(calls, reply);
  }

  @Serves(routes.callUsageHistory)
  history(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.historyAnswers.response(calls, reply);
  }
}
