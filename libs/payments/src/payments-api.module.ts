import { Body, Controller, type DynamicModule, Module, Res } from '@nestjs/common';
import { PAYMENTS_WIRE, Payments, type PortCalls } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, InternalToken, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import type { PaymentsConfig } from './payments.config.js';
import { PaymentsModule } from './payments.module.js';

@Controller()
class PaymentsController {
  private readonly responses: PortResponses<Payments>;

  constructor(payments: Payments, logger: RootLogger) {
    this.responses = new PortResponses(payments, PAYMENTS_WIRE, logger);
  }

  @Serves(routes.callPayments)
  call(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.response(calls, reply);
  }
}

interface PaymentsApiOptions {
  readonly config: PaymentsConfig;
  /** The secret that callers must present. */
  readonly token: InternalToken;
}

/** Serves the payments to other processes. Needs the same modules as `PaymentsModule`. */
@Module({})
export class PaymentsApiModule {
  static with({ config, token }: PaymentsApiOptions, books: DynamicModule): DynamicModule {
    return {
      module: PaymentsApiModule,
      imports: [PaymentsModule.with(config, books)],
      controllers: [PaymentsController],
      providers: [{ provide: InternalToken, useValue: token }],
    };
  }
}
