export {
  Alerts,
  DeletedWebhookEndpoint,
  NewWebhookEndpoint,
  NewWebhookEndpointReply,
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  WebhookDeliveryView,
  WebhookEndpointChange,
  WebhookEndpointList,
  WebhookEndpointView,
  WebhookSecretRotation,
} from './webhooks.js';
