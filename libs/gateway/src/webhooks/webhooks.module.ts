import { Module } from '@nestjs/common';
import { GatewaySettings, hostsIn } from '@svc/paid';
import { AlertsController } from './alerts.controller.js';
import { ChangeNoticesStore } from './change-notices.store.js';
import { ChangeNoticesWorker } from './change-notices.worker.js';
import { ConfirmationsStore } from './confirmations.store.js';
import { WebhookDeliveryStore } from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { ExpiringKeysStore } from './expiring-keys.store.js';
import { ExpiringKeysWorker } from './expiring-keys.worker.js';
import { MailNotices } from './mail-notices.js';
import { MailServer, mailServerIn } from './mail-server.js';
import { OperatorWebhooksController } from './operator-webhooks.controller.js';
import { WebhookDeliveries, WebhookFetcher } from './webhook-deliveries.js';
import { WebhookEventsConsumer } from './webhook-events.consumer.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { WebhooksController } from './webhooks.controller.js';

/** What an account is notified of, and where. */
@Module({
  controllers: [AlertsController, OperatorWebhooksController, WebhookEventsConsumer, WebhooksController],
  providers: [
    ChangeNoticesStore,
    ChangeNoticesWorker,
    ConfirmationsStore,
    ExpiringKeysStore,
    ExpiringKeysWorker,
    MailNotices,
    WebhookDeliveryStore,
    WebhookEndpointStore,
    {
      provide: WebhookSecrets,
      useFactory: ({ config }: GatewaySettings) =>
        new WebhookSecrets(config.GATEWAY_WEBHOOK_KEY, config.GATEWAY_WEBHOOK_KEY_SECOND),
      inject: [GatewaySettings],
    },
    {
      provide: MailServer,
      useFactory: ({ config }: GatewaySettings) => new MailServer(mailServerIn(config)),
      inject: [GatewaySettings],
    },
    {
      provide: WebhookFetcher,
      useFactory: ({ config }: GatewaySettings) =>
        new WebhookFetcher({ allowPrivateHosts: hostsIn(config.GATEWAY_WEBHOOK_PRIVATE_HOSTS) }),
      inject: [GatewaySettings],
    },
    WebhookDeliveries,
  ],
})
export class WebhooksModule {}
