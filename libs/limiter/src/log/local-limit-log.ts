import { Injectable } from '@nestjs/common';
import { LimitLog, type LimitReached, limitReached } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { EventStrategy } from '@svc/events';
import { LIMITER_GROUP } from './limit-log.consumer.js';
import { LimitLogStore } from './limit-log.store.js';

const READ_WAIT_MS = 2_000;

/** The log within its own process. A read includes what was refused before it. */
@Injectable()
export class LocalLimitLog extends LimitLog {
  constructor(
    private readonly store: LimitLogStore,
    private readonly events: EventStrategy,
  ) {
    super();
  }

  override async latest(accountId: string): Promise<readonly LimitReached[]> {
    try {
      await this.events.drained(limitReached.topic, LIMITER_GROUP, READ_WAIT_MS);
      return await this.store.latest(accountId);
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}
