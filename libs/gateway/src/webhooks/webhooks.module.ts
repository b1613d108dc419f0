import { Module } from '@nestjs/common';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { GatewaySettings, hostsIn } from '@svc/paid';
import { RootLogger } from '@svc/runtime';
import { AlertsController } from './alerts.controller.js';
import { WebhookDeliveryStore } from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { ExpiringKeysStore } from './expiring-keys.store.js';
import { ExpiringKeysWorker } from './expiring-keys.worker.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookEventsConsumer } from './webhook-events.consumer.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhooksController } from './webhooks.controller.js';

/** What an account is notified of, and where. */
@Module({
  controllers: [AlertsController, WebhookEventsConsumer, WebhooksController],
  providers: [
    ExpiringKeysStore,
    ExpiringKeysWorker,
    WebhookDeliveryStore,
    WebhookEndpointStore,
    {
      provide: WebhookSecrets,
      useFactory: ({ config }: GatewaySettings) =>
        new WebhookSecrets(config.GATEWAY_WEBHOOK_KEY, config.GATEWAY_WEBHOOK_KEY_SECOND),
      inject: [GatewaySettings],
    },
    {
      provide: WebhookDeliveries,
      useFactory: (
        store: WebhookDeliveryStore,
        endpoints: WebhookEndpointStore,
        secrets: WebhookSecrets,
        { config }: GatewaySettings,
        { log }: RootLogger,
      ) => {
        // What clients may read is not what they may post to.
        const allowPrivateHosts = hostsIn(config.GATEWAY_WEBHOOK_PRIVATE_HOSTS);
        const fetcher = new GuardedFetcher({ allowPrivateHosts });
        return new WebhookDeliveries({ store, endpoints, secrets, fetcher, log });
      },
      inject: [WebhookDeliveryStore, WebhookEndpointStore, WebhookSecrets, GatewaySettings, RootLogger],
    },
  ],
})
export class WebhooksModule {}
