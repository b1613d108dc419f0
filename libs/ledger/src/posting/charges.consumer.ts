import { Controller } from '@nestjs/common';
import { type UsageRecorded, usageRecorded } from '@svc/contracts';
import { type EventBatch, OnEvents } from '@svc/events';
import { Poster } from './poster.js';
import { LEDGER_GROUP } from './posting-progress.js';

/** Posts recorded charges. */
@Controller()
export class ChargesConsumer {
  constructor(private readonly poster: Poster) {}

  @OnEvents(usageRecorded, LEDGER_GROUP)
  async post(batch: EventBatch<UsageRecorded>): Promise<void> {
    await this.poster.postRecorded(batch.map((event) => event.payload));
  }
}
