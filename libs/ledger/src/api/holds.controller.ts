import { Body, Controller, Res } from '@nestjs/common';
import { Charges, CHARGES_WIRE, Holds, HOLDS_WIRE, type PortCalls } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** Holds and charges over HTTP, for processes that settle their own requests. */
@Controller()
export class HoldsController {
  private readonly holdsAnswers: PortResponses<Holds>;
  private readonly chargesAnswers: PortResponses<Charges>;

  constructor(holds: Holds, charges: Charges, logger: RootLogger) {
    this.holdsAnswers = new PortResponses(holds, HOLDS_WIRE, logger);
    this.chargesAnswers = new PortResponses(charges, CHARGES_WIRE, logger);
  }

  @Serves(routes.callHolds)
  holds(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.holdsAnswers.response(calls, reply);
  }

  @Serves(routes.callCharges)
  charges(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.chargesAnswers.response(calls, reply);
  }
}
