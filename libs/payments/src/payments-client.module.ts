import { type DynamicModule, Module } from '@nestjs/common';
import { PAYMENTS_WIRE, Payments } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { InternalClient, PortClient, durationMs, neighbourUrl, closedAtEnd } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of a process that calls the payments of another. */
export const paymentsClientConfig = {
  PAYMENTS_URL: neighbourUrl
    .default('http://127.0.0.1:3006')
    .describe('The URL of the payments service; those of several replicas are separated by commas'),
  PAYMENTS_WAIT_MS: durationMs
    .default(40_000)
    .describe('How long a call of the payments service may take; must be longer than X402_SETTLE_WAIT_MS'),
};

type PaymentsClientConfig = Readonly<z.infer<z.ZodObject<typeof paymentsClientConfig>>>;

/** Client of the payments in other processes. Repeating a call has no further effect. */
@Module({})
export class PaymentsClientModule {
  static at({ config, token }: { config: PaymentsClientConfig; token: string }): DynamicModule {
    const { PAYMENTS_URL: url, PAYMENTS_WAIT_MS: deadlineMs } = config;
    return {
      module: PaymentsClientModule,
      providers: [
        { provide: InternalClient, useFactory: () => new InternalClient({ url, token }) },
        closedAtEnd(InternalClient),
        {
          provide: Payments,
          useFactory: (client: InternalClient) =>
            new PortClient<Payments>(client, PAYMENTS_WIRE, {
              path: routes.callPayments.path,
              deadlineMs,
              alone: true,
            }).port,
          inject: [InternalClient],
        },
      ],
      exports: [Payments],
    };
  }
}
