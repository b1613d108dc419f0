import { Body, Controller, Res } from '@nestjs/common';
import { type Limits, LIMITS_WIRE, type LimitsState, type PortCalls } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { LeasingLimiter } from '../counting/renewing-limiter.js';

/** The limits over HTTP. */
@Controller()
export class LimitsController {
  private readonly responses: PortResponses<Limits>;

  constructor(
    private readonly limiter: LeasingLimiter,
    logger: RootLogger,
  ) {
    this.responses = new PortResponses<Limits>(limiter, LIMITS_WIRE, logger);
  }

  @Serves(routes.callLimits)
  calls(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.response(calls, reply);
  }

  @Serves(routes.limitsState)
  state(): LimitsState {
    return this.limiter.state();
  }
}
