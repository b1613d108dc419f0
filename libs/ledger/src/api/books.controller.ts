import { Body, Controller, Res } from '@nestjs/common';
import { Books, BOOKS_WIRE, type PortCalls, routes, USAGE_HISTORY_WIRE, UsageHistory } from '@svc/contracts';
import { Answers, PortAnswers, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** The books and their history over HTTP. */
@Controller()
export class BooksController {
  private readonly booksAnswers: PortAnswers<Books>;
  private readonly historyAnswers: PortAnswers<UsageHistory>;

  constructor(books: Books, history: UsageHistory, logger: RootLogger) {
    this.booksAnswers = new PortAnswers(books, BOOKS_WIRE, logger);
    this.historyAnswers = new PortAnswers(history, USAGE_HISTORY_WIRE, logger);
  }

  @Answers(routes.callBooks)
  books(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.booksAnswers.answer(calls, reply);
  }

  @Answers(routes.callUsageHistory)
  history(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.historyAnswers.answer(calls, reply);
  }
}
