import { Controller } from '@nestjs/common';
import { type LimitReached, limitReached } from '@svc/contracts/messages';
import { type EventBatch, OnEvents } from '@svc/events';
import { LimitLogStore } from './limit-log.store.js';

/** The consumer group that stores the log. */
export const LIMITER_GROUP = 'limiter';

/** Stores refused requests. */
@Controller()
export class LimitLogConsumer {
  constructor(private readonly store: LimitLogStore) {}

  @OnEvents(limitReached, LIMITER_GROUP)
  async keep(batch: EventBatch<LimitReached>): Promise<void> {
    await this.store.add(batch.map((event) => event.payload));
  }
}
