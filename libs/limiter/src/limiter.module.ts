import { Module } from '@nestjs/common';
import { Limiter } from '@svc/contracts';
import { MemoryLimiter } from './memory-limiter.js';

/** Counts in the memory of this process. */
@Module({
  providers: [{ provide: Limiter, useFactory: () => new MemoryLimiter() }],
  exports: [Limiter],
})
export class LimiterModule {}
