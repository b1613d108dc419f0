import type { RouteDefinition } from '../route/route-definition.js';
import {
  Alerts,
  AlertsReply,
  DeletedWebhookEndpoint,
  MailConfirmation,
  NewWebhookEndpoint,
  NewWebhookEndpointReply,
  WebhookDeliveryList,
  WebhookDeliveryParams,
  WebhookDeliveryQuery,
  WebhookDeliveryView,
  WebhookEndpointChange,
  WebhookEndpointList,
  WebhookEndpointParams,
  WebhookEndpointView,
  WebhookSecretRotation,
} from './webhooks.js';

const PATH = '/api/v1/webhook_endpoints';

const terms = { tag: 'Webhooks', access: 'admin', status: 200, headers: ['balances'] } as const;
const OF_ONE = { params: WebhookEndpointParams } as const;
const REFUSALS = ['INVALID_REQUEST', 'WEBHOOK_ENDPOINT_NOT_FOUND'] as const;

/** The webhooks of an account, for holders of its ADMIN keys. */
export const webhookRoutes = {
  listWebhookEndpoints: {
    ...terms,
    method: 'GET',
    path: PATH,
    operationId: 'listWebhookEndpoints',
    summary: "Lists the account's webhook endpoints, newest first",
    description: 'Without their secrets.',
    reply: WebhookEndpointList,
    refusals: [],
  },
  createWebhookEndpoint: {
    ...terms,
    method: 'POST',
    path: PATH,
    operationId: 'createWebhookEndpoint',
    summary: 'Creates a webhook endpoint and shows its secret once',
    description: `Events are sent to the URL with POST, signed as [Standard Webhooks](https://www.standardwebhooks.com) describes: \`webhook-id\`,
\`webhook-timestamp\` and \`webhook-signature\`. The body is \`{"id", "object": "event", "created_at", "type", "data"}\`.

An event is delivered at least once, in no promised order; \`webhook-id\` is the same in every attempt. A response other than 2xx
within 10 s, a redirect, and a body of more than 64 KiB are failures. They are retried for three days, ten attempts in all. An account
may have 10 endpoints.

\`mailto:\` and an e-mail address is notified by e-mail, at most once a minute; events of the meantime share a mail. It is \`unconfirmed\` until
\`POST /webhook_endpoints/{id}/confirm\` has the code that is sent to it.`,
    body: NewWebhookEndpoint,
    reply: NewWebhookEndpointReply,
    refusals: ['INVALID_REQUEST', 'WEBHOOKS_NOT_CONFIGURED', 'TOO_MANY_CONFIRMATION_MAILS'],
  },
  getWebhookEndpoint: {
    ...terms,
    ...OF_ONE,
    method: 'GET',
    path: `${PATH}/:id`,
    operationId: 'getWebhookEndpoint',
    summary: 'Shows a webhook endpoint',
    description: 'Without its secrets, and with the reason if it is disabled.',
    reply: WebhookEndpointView,
    refusals: REFUSALS,
  },
  changeWebhookEndpoint: {
    ...terms,
    ...OF_ONE,
    method: 'PATCH',
    path: `${PATH}/:id`,
    operationId: 'changeWebhookEndpoint',
    summary: 'Changes a webhook endpoint',
    description:
      'Absent fields keep their values. An endpoint that is enabled again gets what is still pending. A URL of a server cannot become an e-mail address, nor an e-mail address another URL.',
    body: WebhookEndpointChange,
    reply: WebhookEndpointView,
    refusals: REFUSALS,
  },
  confirmWebhookEndpoint: {
    ...terms,
    ...OF_ONE,
    method: 'POST',
    path: `${PATH}/:id/confirm`,
    operationId: 'confirmWebhookEndpoint',
    summary: 'Confirms an e-mail address with the code that was sent to it',
    description:
      'A code is valid until the end of the next day (UTC). `POST /webhook_endpoints/{id}/test` sends another one.',
    body: MailConfirmation,
    reply: WebhookEndpointView,
    refusals: [...REFUSALS, 'WEBHOOKS_NOT_CONFIGURED'],
  },
  deleteWebhookEndpoint: {
    ...terms,
    ...OF_ONE,
    method: 'DELETE',
    path: `${PATH}/:id`,
    operationId: 'deleteWebhookEndpoint',
    summary: 'Deletes a webhook endpoint and its deliveries',
    description: 'Events that were not delivered are not sent any more.',
    reply: DeletedWebhookEndpoint,
    refusals: REFUSALS,
  },
  rotateWebhookSecret: {
    ...terms,
    ...OF_ONE,
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    operationId: 'rotateWebhookSecret',
    summary: 'Gives a webhook endpoint a new secret and shows it once',
    description: 'Deliveries are signed with both secrets for `overlapSeconds`, a day by default.',
    body: WebhookSecretRotation,
    reply: NewWebhookEndpointReply,
    refusals: [...REFUSALS, 'WEBHOOKS_NOT_CONFIGURED'],
  },
  testWebhookEndpoint: {
    ...terms,
    ...OF_ONE,
    method: 'POST',
    path: `${PATH}/:id/test`,
    operationId: 'testWebhookEndpoint',
    summary: 'Sends an event of the type `webhook.test`',
    description:
      'The delivery is listed with its outcome as soon as it was attempted. An e-mail address that is not confirmed gets a new code instead.',
    reply: WebhookDeliveryView,
    refusals: [...REFUSALS, 'TOO_MANY_CONFIRMATION_MAILS'],
  },
  listWebhookDeliveries: {
    ...terms,
    ...OF_ONE,
    method: 'GET',
    path: `${PATH}/:id/deliveries`,
    operationId: 'listWebhookDeliveries',
    summary: 'Lists the deliveries to a webhook endpoint, newest first',
    description: 'Deliveries are kept for 30 days.',
    query: WebhookDeliveryQuery,
    reply: WebhookDeliveryList,
    refusals: REFUSALS,
  },
  replayWebhookDelivery: {
    ...terms,
    method: 'POST',
    path: `${PATH}/:id/deliveries/:deliveryId/replay`,
    operationId: 'replayWebhookDelivery',
    summary: 'Delivers an event again',
    description: 'With the same `webhook-id`, at once, and with all its attempts.',
    params: WebhookDeliveryParams,
    reply: WebhookDeliveryView,
    refusals: [...REFUSALS, 'WEBHOOK_DELIVERY_NOT_FOUND', 'TOO_MANY_CONFIRMATION_MAILS'],
  },
  getAlerts: {
    ...terms,
    method: 'GET',
    path: '/api/v1/alerts',
    operationId: 'getAlerts',
    summary: 'Shows what the account is notified of',
    description: 'The amounts at which `balance.low` and the other notices happen.',
    reply: AlertsReply,
    refusals: [],
  },
  setAlerts: {
    ...terms,
    method: 'PUT',
    path: '/api/v1/alerts',
    operationId: 'setAlerts',
    summary: 'Sets the amounts of which the account is notified',
    description: `Replaces all earlier ones. \`balance.low\` happens when the balance in a currency falls below the amount, and again only after it was
at least the amount: after a top-up, or a new day's DIEM. \`key.spend_threshold\` and \`end_user.spend_threshold\` happen once in each period,
when the key or the end user has spent the amount. What is already so when this is set does not count.`,
    body: Alerts,
    reply: AlertsReply,
    refusals: ['INVALID_REQUEST'],
  },
} as const satisfies Record<string, RouteDefinition>;
