import { Body, Controller, Param, Query } from '@nestjs/common';
import { routes } from '@svc/api';
import { NewOperatorEndpoint, OperatorEndpointChange } from '@svc/api/operator';
import {
  type DeletedWebhookEndpoint,
  type NewWebhookEndpointReply,
  type WebhookDeliveryList,
  WebhookDeliveryQuery,
  type WebhookDeliveryView,
  type WebhookEndpointList,
  type WebhookEndpointView,
  WebhookSecretRotation,
} from '@svc/api/webhooks';
import { OPERATOR, newAccountEvent } from '@svc/contracts/messages';
import { Serves } from '@svc/runtime';
import { WebhookDeliveryStore } from './delivery.store.js';
import { WebhookEndpointStore } from './endpoint.store.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { deliveryView, endpointView, madeView } from './webhook-views.js';

interface NamedEndpoint {
  readonly id: string;
}

/** Manages where the operator is notified. */
@Controller()
export class OperatorWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointStore,
    private readonly store: WebhookDeliveryStore,
    private readonly deliveries: WebhookDeliveries,
  ) {}

  @Serves(routes.listOperatorEndpoints)
  async list(): Promise<WebhookEndpointList> {
    return { object: 'list', data: (await this.endpoints.list(OPERATOR)).map(endpointView) };
  }

  @Serves(routes.createOperatorEndpoint)
  async create(@Body() request: NewOperatorEndpoint): Promise<NewWebhookEndpointReply> {
    return madeView(await this.endpoints.create(OPERATOR, request));
  }

  @Serves(routes.changeOperatorEndpoint)
  async change(
    @Param() { id }: NamedEndpoint,
    @Body() change: OperatorEndpointChange,
  ): Promise<WebhookEndpointView> {
    const changed = await this.endpoints.change(OPERATOR, id, change);
    this.deliveries.wake();
    return endpointView(changed);
  }

  @Serves(routes.deleteOperatorEndpoint)
  async delete(@Param() { id }: NamedEndpoint): Promise<DeletedWebhookEndpoint> {
    await this.endpoints.delete(OPERATOR, id);
    return { id, deleted: true };
  }

  @Serves(routes.rotateOperatorSecret)
  async rotate(
    @Param() { id }: NamedEndpoint,
    @Body() { overlapSeconds }: WebhookSecretRotation,
  ): Promise<NewWebhookEndpointReply> {
    return madeView(await this.endpoints.rotate(OPERATOR, id, overlapSeconds));
  }

  @Serves(routes.testOperatorEndpoint)
  async test(@Param() { id }: NamedEndpoint): Promise<WebhookDeliveryView> {
    await this.endpoints.find(OPERATOR, id);
    const event = newAccountEvent(OPERATOR, 'webhook.test', { endpoint_id: id });
    const delivery = await this.store.add(id, event);
    this.deliveries.wake();
    return deliveryView(delivery);
  }

  @Serves(routes.listOperatorDeliveries)
  async listDeliveries(
    @Param() { id }: NamedEndpoint,
    @Query() query: WebhookDeliveryQuery,
  ): Promise<WebhookDeliveryList> {
    await this.endpoints.find(OPERATOR, id);
    return { object: 'list', data: (await this.store.list(id, query)).map(deliveryView) };
  }

  @Serves(routes.replayOperatorDelivery)
  async replay(
    @Param() { id, deliveryId }: NamedEndpoint & { deliveryId: string },
  ): Promise<WebhookDeliveryView> {
    await this.endpoints.find(OPERATOR, id);
    const delivery = await this.store.replay(id, deliveryId);
    this.deliveries.wake();
    return deliveryView(delivery);
  }
}
