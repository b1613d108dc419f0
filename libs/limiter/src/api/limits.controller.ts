import { Body, Controller, Res } from '@nestjs/common';
import { type Limits, LIMITS_WIRE, type LimitsState, type PortCalls, routes } from '@svc/contracts';
import { Answers, PortAnswers, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { LeasingLimiter } from '../counting/leasing-limiter.js';

/** The limits over HTTP. */
@Controller()
export class LimitsController {
  private readonly answers: PortAnswers<Limits>;

  constructor(
    private readonly limiter: LeasingLimiter,
    logger: RootLogger,
  ) {
    this.answers = new PortAnswers<Limits>(limiter, LIMITS_WIRE, logger);
  }

  @Answers(routes.callLimits)
  calls(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.answers.answer(calls, reply);
  }

  @Answers(routes.limitsState)
  state(): LimitsState {
    return this.limiter.state();
  }
}
