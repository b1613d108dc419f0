import { Body, Controller, Res } from '@nestjs/common';
import { Charges, CHARGES_WIRE, Holds, HOLDS_WIRE, type PortCalls, routes } from '@svc/contracts';
import { Answers, PortAnswers, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** Holds and charges over HTTP, for processes that settle their own requests. */
@Controller()
export class HoldsController {
  private readonly holdsAnswers: PortAnswers<Holds>;
  private readonly chargesAnswers: PortAnswers<Charges>;

  constructor(holds: Holds, charges: Charges, logger: RootLogger) {
    this.holdsAnswers = new PortAnswers(holds, HOLDS_WIRE, logger);
    this.chargesAnswers = new PortAnswers(charges, CHARGES_WIRE, logger);
  }

  @Answers(routes.callHolds)
  holds(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.holdsAnswers.answer(calls, reply);
  }

  @Answers(routes.callCharges)
  charges(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.chargesAnswers.answer(calls, reply);
  }
}
