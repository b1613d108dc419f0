import { Body, Controller, Param, Query, Req } from '@nestjs/common';
import { routes } from '@svc/api';
import {
  type DeletedWebhookEndpoint,
  MailConfirmation,
  NewWebhookEndpoint,
  type NewWebhookEndpointReply,
  type WebhookDeliveryList,
  WebhookDeliveryQuery,
  type WebhookDeliveryView,
  WebhookEndpointChange,
  type WebhookEndpointList,
  type WebhookEndpointView,
  WebhookSecretRotation,
  addressIn,
} from '@svc/api/webhooks';
import { newAccountEvent } from '@svc/contracts/messages';
import { invalidRequest } from '@svc/contracts/problems';
import type { Caller } from '@svc/contracts/ports';
import { CallerOf } from '@svc/identity/auth';
import { Serves } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { demandFreshProof } from '../keys/fresh-proof.js';
import { ConfirmationsStore } from './confirmations.store.js';
import { WebhookDeliveryStore } from './delivery.store.js';
import { type StoredEndpoint, WebhookEndpointStore } from './endpoint.store.js';
import { MailServer } from './mail-server.js';
import { CONFIRMATION } from './mail-texts.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { deliveryView, endpointView, madeView } from './webhook-views.js';

interface Named {
  readonly id: string;
}

/** Manages where an account's events are delivered, on behalf of a holder of one of its ADMIN keys. */
@Controller()
export class WebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointStore,
    private readonly store: WebhookDeliveryStore,
    private readonly deliveries: WebhookDeliveries,
    private readonly confirmations: ConfirmationsStore,
    private readonly mailServer: MailServer,
  ) {}

  @Serves(routes.listWebhookEndpoints)
  async list(@CallerOf() { accountId }: Caller): Promise<WebhookEndpointList> {
    return { object: 'list', data: (await this.endpoints.list(accountId)).map(endpointView) };
  }

  @Serves(routes.createWebhookEndpoint)
  async create(
    @CallerOf() { accountId }: Caller,
    @Req() { session }: FastifyRequest,
    @Body() request: NewWebhookEndpoint,
  ): Promise<NewWebhookEndpointReply> {
    demandFreshProof(session);
    const address = addressIn(request.url);
    if (address === undefined) return madeView(await this.endpoints.create(accountId, request));
    if (!this.mailServer.isConfigured) throw sendsNoMail();
    await this.confirmations.take(accountId, address);
    const made = await this.endpoints.create(accountId, request);
    await this.send(accountId, made.endpoint);
    return madeView(made);
  }

  @Serves(routes.confirmWebhookEndpoint)
  async confirm(
    @CallerOf() { accountId }: Caller,
    @Param() { id }: Named,
    @Body() { code }: MailConfirmation,
  ): Promise<WebhookEndpointView> {
    return endpointView(await this.endpoints.confirm(accountId, id, code));
  }

  @Serves(routes.getWebhookEndpoint)
  async get(@CallerOf() { accountId }: Caller, @Param() { id }: Named): Promise<WebhookEndpointView> {
    return endpointView(await this.endpoints.find(accountId, id));
  }

  @Serves(routes.changeWebhookEndpoint)
  async change(
    @CallerOf() { accountId }: Caller,
    @Req() { session, params }: FastifyRequest<{ Params: Named }>,
    @Body() change: WebhookEndpointChange,
  ): Promise<WebhookEndpointView> {
    if (change.url !== undefined) demandFreshProof(session);
    const changed = await this.endpoints.change(accountId, params.id, change);
    this.deliveries.wake();
    return endpointView(changed);
  }

  @Serves(routes.deleteWebhookEndpoint)
  async delete(@CallerOf() { accountId }: Caller, @Param() { id }: Named): Promise<DeletedWebhookEndpoint> {
    await this.endpoints.delete(accountId, id);
    return { id, deleted: true };
  }

  @Serves(routes.rotateWebhookSecret)
  async rotate(
    @CallerOf() { accountId }: Caller,
    @Req() { session, params }: FastifyRequest<{ Params: Named }>,
    @Body() { overlapSeconds }: WebhookSecretRotation,
  ): Promise<NewWebhookEndpointReply> {
    demandFreshProof(session);
    return madeView(await this.endpoints.rotate(accountId, params.id, overlapSeconds));
  }

  @Serves(routes.testWebhookEndpoint)
  async test(@CallerOf() { accountId }: Caller, @Param() { id }: Named): Promise<WebhookDeliveryView> {
    const endpoint = await this.endpoints.find(accountId, id);
    await this.demandRoom(accountId, endpoint);
    return this.send(accountId, endpoint);
  }

  @Serves(routes.listWebhookDeliveries)
  async listDeliveries(
    @CallerOf() { accountId }: Caller,
    @Param() { id }: Named,
    @Query() query: WebhookDeliveryQuery,
  ): Promise<WebhookDeliveryList> {
    await this.endpoints.find(accountId, id);
    return { object: 'list', data: (await this.store.list(id, query)).map(deliveryView) };
  }

  @Serves(routes.replayWebhookDelivery)
  async replay(
    @CallerOf() { accountId }: Caller,
    @Param() { id, deliveryId }: Named & { deliveryId: string },
  ): Promise<WebhookDeliveryView> {
    await this.demandRoom(accountId, await this.endpoints.find(accountId, id));
    const delivery = await this.store.replay(id, deliveryId);
    this.deliveries.wake();
    return deliveryView(delivery);
  }

  /** Whatever is sent to an address that is not confirmed has a code, and is bounded. */
  private async demandRoom(accountId: string, { url, state }: StoredEndpoint): Promise<void> {
    const address = addressIn(url);
    if (address !== undefined && state === 'unconfirmed') await this.confirmations.take(accountId, address);
  }

  /** A test, or the code of an address that is not confirmed. */
  private async send(accountId: string, { id, state }: StoredEndpoint): Promise<WebhookDeliveryView> {
    const type = state === 'unconfirmed' ? CONFIRMATION : 'webhook.test';
    const delivery = await this.store.add(id, newAccountEvent(accountId, type, { endpoint_id: id }));
    this.deliveries.wake();
    return deliveryView(delivery);
  }
}

const sendsNoMail = () =>
  invalidRequest([
    { code: 'custom', path: ['url'], message: 'must be that of a server: this service sends no e-mail' },
  ]);
