import { Controller } from '@nestjs/common';
import { type AccountEvent, accountEvent } from '@svc/contracts/messages';
import { type EventBatch, OnEvents } from '@svc/events';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookDeliveryStore } from './delivery.store.js';

/** Turns events into deliveries. A repeated event adds none. */
@Controller()
export class WebhookEventsConsumer {
  constructor(
    private readonly store: WebhookDeliveryStore,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @OnEvents(accountEvent, 'webhooks')
  async record(batch: EventBatch<AccountEvent>): Promise<void> {
    for (const { payload } of batch) await this.store.record(payload);
    this.deliveries.wake();
  }
}
