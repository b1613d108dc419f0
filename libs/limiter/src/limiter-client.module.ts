import { type DynamicModule, Module } from '@nestjs/common';
import { Limiter } from '@svc/contracts/ports';
import { RootLogger } from '@svc/runtime';
import { FallbackLimiter } from './fallback/fallback-limiter.js';
import { HttpLimiter, type LimiterAddress } from './api/http-limiter.js';
import { LeasingLimiter } from './counting/renewing-limiter.js';
import { LEASE_MS } from './counting/memory-limiter.js';
import { renewing } from './limiter.module.js';

const WAIT_MS = 1_000;
const LOCAL_SHARE = 0.25;

export interface LimiterClientOptions extends LimiterAddress {
  /** A call without a response from the limiter in this time is decided from the local share. */
  readonly waitMs?: number;
  /** The fraction of each limit given out here while the limiter is unreachable. */
  readonly localShare?: number;
  /** Must equal the limiter's own setting. */
  readonly leaseMs?: number;
}

/** Client of the limiter in another process. Needs the global logging module. */
@Module({})
export class LimiterClientModule {
  static at(options: LimiterClientOptions): DynamicModule {
    const { url, waitMs = WAIT_MS, localShare: share = LOCAL_SHARE, leaseMs = LEASE_MS } = options;
    const local = { share, leaseMs };
    return {
      module: LimiterClientModule,
      providers: [
        {
          provide: LeasingLimiter,
          useFactory: ({ log }: RootLogger) =>
            new FallbackLimiter(new HttpLimiter(options), { to: url, waitMs, leaseMs, local }, log),
          inject: [RootLogger],
        },
        renewing(leaseMs),
      ],
      exports: [Limiter, LeasingLimiter],
    };
  }
}
