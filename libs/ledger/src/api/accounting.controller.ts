import { Body, Controller, Res } from '@nestjs/common';
import { ACCOUNTING_WIRE, Accounting } from '@svc/contracts/accounting';
import type { PortCalls } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** Accounting over HTTP. */
@Controller()
export class AccountingController {
  private readonly answers: PortResponses<Accounting>;

  constructor(accounting: Accounting, logger: RootLogger) {
    this.answers = new PortResponses(accounting, ACCOUNTING_WIRE, logger);
  }

  @Serves(routes.callAccounting)
  accounting(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.answers.response(calls, reply);
  }
}
