import { OPERATOR_EVENT_TYPES } from '@svc/contracts/messages';
import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import {
  DeletedWebhookEndpoint,
  NewWebhookEndpoint,
  NewWebhookEndpointReply,
  ServerUrl,
  WebhookDeliveryList,
  WebhookDeliveryParams,
  WebhookDeliveryQuery,
  WebhookDeliveryView,
  WebhookEndpointChange,
  WebhookEndpointList,
  WebhookEndpointParams,
  WebhookEndpointView,
  WebhookSecretRotation,
} from '../webhooks/index.js';

const Events = z
  .array(z.enum(OPERATOR_EVENT_TYPES))
  .min(1)
  .max(OPERATOR_EVENT_TYPES.length)
  .describe('The types of events that are delivered.');

export const NewOperatorEndpoint = NewWebhookEndpoint.extend({ url: ServerUrl, events: Events });
export type NewOperatorEndpoint = z.infer<typeof NewOperatorEndpoint>;

/** Absent fields stay unchanged. */
export const OperatorEndpointChange = WebhookEndpointChange.extend({
  url: ServerUrl.optional(),
  events: Events.optional(),
});
export type OperatorEndpointChange = z.infer<typeof OperatorEndpointChange>;

const reads = { tag: 'Health', access: 'operator', status: 200 } as const;
const writes = { ...reads, scope: 'keys' } as const;
const OF_ONE = { params: WebhookEndpointParams } as const;
const REFUSALS = ['INVALID_REQUEST', 'WEBHOOK_ENDPOINT_NOT_FOUND'] as const;

/** Where the operator is notified. */
export const operatorWebhookRoutes = {
  listOperatorEndpoints: {
    ...reads,
    method: 'GET',
    path: '/operator/v1/webhook_endpoints',
    operationId: 'listOperatorEndpoints',
    summary: "Lists the operator's webhook endpoints, newest first",
    description: 'Without their secrets, and with the reason if one is disabled.',
    reply: WebhookEndpointList,
    refusals: [],
  },
  createOperatorEndpoint: {
    ...writes,
    method: 'POST',
    path: '/operator/v1/webhook_endpoints',
    operationId: 'createOperatorEndpoint',
    summary: 'Creates a webhook endpoint for events of the whole service, and shows its secret once',
    description: `Events are delivered, signed and retried as those of accounts. Backends and the catalogue are looked at every
two minutes. There may be 10 endpoints.`,
    body: NewOperatorEndpoint,
    reply: NewWebhookEndpointReply,
    refusals: ['INVALID_REQUEST', 'WEBHOOKS_NOT_CONFIGURED'],
  },
  changeOperatorEndpoint: {
    ...writes,
    ...OF_ONE,
    method: 'PATCH',
    path: '/operator/v1/webhook_endpoints/:id',
    operationId: 'changeOperatorEndpoint',
    summary: "Changes one of the operator's webhook endpoints",
    description: 'Absent fields keep their values.',
    body: OperatorEndpointChange,
    reply: WebhookEndpointView,
    refusals: REFUSALS,
  },
  deleteOperatorEndpoint: {
    ...writes,
    ...OF_ONE,
    method: 'DELETE',
    path: '/operator/v1/webhook_endpoints/:id',
    operationId: 'deleteOperatorEndpoint',
    summary: "Deletes one of the operator's webhook endpoints and its deliveries",
    description: 'Events that were not delivered are not sent any more.',
    reply: DeletedWebhookEndpoint,
    refusals: REFUSALS,
  },
  rotateOperatorSecret: {
    ...writes,
    ...OF_ONE,
    method: 'POST',
    path: '/operator/v1/webhook_endpoints/:id/rotate',
    operationId: 'rotateOperatorSecret',
    summary: "Gives one of the operator's webhook endpoints a new secret and shows it once",
    description: 'Deliveries are signed with both secrets for `overlapSeconds`, a day by default.',
    body: WebhookSecretRotation,
    reply: NewWebhookEndpointReply,
    refusals: [...REFUSALS, 'WEBHOOKS_NOT_CONFIGURED'],
  },
  testOperatorEndpoint: {
    ...writes,
    ...OF_ONE,
    method: 'POST',
    path: '/operator/v1/webhook_endpoints/:id/test',
    operationId: 'testOperatorEndpoint',
    summary: 'Sends the operator an event of the type `webhook.test`',
    description: 'The delivery is listed with its outcome as soon as it was attempted.',
    reply: WebhookDeliveryView,
    refusals: REFUSALS,
  },
  listOperatorDeliveries: {
    ...reads,
    ...OF_ONE,
    method: 'GET',
    path: '/operator/v1/webhook_endpoints/:id/deliveries',
    operationId: 'listOperatorDeliveries',
    summary: "Lists the deliveries to one of the operator's webhook endpoints, newest first",
    description: 'Deliveries are kept for 30 days.',
    query: WebhookDeliveryQuery,
    reply: WebhookDeliveryList,
    refusals: REFUSALS,
  },
  replayOperatorDelivery: {
    ...writes,
    method: 'POST',
    path: '/operator/v1/webhook_endpoints/:id/deliveries/:deliveryId/replay',
    operationId: 'replayOperatorDelivery',
    summary: 'Delivers an event to the operator again',
    description: 'With the same `webhook-id`, at once, and with all its attempts.',
    params: WebhookDeliveryParams,
    reply: WebhookDeliveryView,
    refusals: [...REFUSALS, 'WEBHOOK_DELIVERY_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
