import { Module } from '@nestjs/common';
import { LimitLog } from '@svc/contracts/messages';
import { LimitLogConsumer } from './limit-log.consumer.js';
import { LimitLogStore } from './limit-log.store.js';
import { LocalLimitLog } from './local-limit-log.js';

/** Stores the log of refused requests. Needs the global modules of storage and events. */
@Module({
  controllers: [LimitLogConsumer],
  providers: [{ provide: LimitLog, useClass: LocalLimitLog }, LimitLogStore],
  exports: [LimitLog],
})
export class LimitLogModule {}
