import {
  type NewWebhookEndpointReply,
  type WebhookDeliveryView,
  type WebhookEndpointView,
  addressIn,
} from '@svc/api/webhooks';
import type { StoredDelivery } from './delivery.store.js';
import type { MadeEndpoint, StoredEndpoint } from './endpoint.store.js';
import { secretText } from './webhook-secrets.js';

export const endpointView = ({ created_at, events, ...endpoint }: StoredEndpoint): WebhookEndpointView => ({
  ...endpoint,
  object: 'webhook_endpoint',
  events: [...events],
  createdAt: created_at.toISOString(),
});

export const madeView = ({ endpoint, secret }: MadeEndpoint): NewWebhookEndpointReply => ({
  ...endpointView(endpoint),
  // That of an e-mail address makes its codes, so it is shown to nobody.
  secret: addressIn(endpoint.url) === undefined ? secretText(secret) : null,
});

export const deliveryView = (stored: StoredDelivery): WebhookDeliveryView => ({
  id: stored.id,
  object: 'webhook_delivery',
  eventId: stored.event_id,
  eventType: stored.event_type,
  state: stored.state,
  tries: stored.tries,
  status: stored.status,
  fault: stored.fault,
  createdAt: stored.created_at.toISOString(),
  triedAt: stored.tried_at?.toISOString() ?? null,
  nextTryAt: stored.next_try_at?.toISOString() ?? null,
});
