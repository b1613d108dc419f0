import { z } from 'zod';
import { ACCOUNT_EVENT_TYPES } from '@svc/contracts/messages';
import { numberToNano } from '@svc/contracts/money';
import { ALERTS_MAX, ALERT_PERIODS } from '@svc/contracts/ports';
import { namedMembers } from '../chat/schema-names.js';

/** One address without a display name, in ASCII and without quotes, so that it is only ever one header. */
export const MailAddress = z.email().max(254);

const MAIL = 'mailto:';
const URL_MAX = 2_048;

/** The address of an endpoint that is notified by e-mail. */
export const addressIn = (url: string): string | undefined =>
  url.startsWith(MAIL) ? url.slice(MAIL.length) : undefined;

export const ServerUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that starts with https:// or http://' })
  .max(URL_MAX)
  .meta({ example: 'https://example.com/hooks' });

const Url = z
  .string()
  .trim()
  .max(URL_MAX)
  .refine(
    (url) => MailAddress.safeParse(addressIn(url)).success || ServerUrl.safeParse(url).success,
    'must be a URL that starts with https:// or http://, or mailto: and one e-mail address',
  )
  .meta({ format: 'uri', example: 'https://example.com/hooks' })
  .describe(
    'An address of your server, or `mailto:` and one e-mail address, which is notified once its code is confirmed.',
  );

const Events = z
  .array(z.enum(ACCOUNT_EVENT_TYPES))
  .max(ACCOUNT_EVENT_TYPES.length)
  .describe('The types of events that are delivered. None: only what a `callback_url` asks for.');

export const NewWebhookEndpoint = z.strictObject({ url: Url, events: Events });

/** Absent fields stay unchanged. */
export const WebhookEndpointChange = z.strictObject({
  url: Url.optional(),
  events: Events.optional(),
  enabled: z
    .boolean()
    .optional()
    .describe('Whether events are delivered. Those that happen while they are not are left out.'),
});

/** As long as deployments of a new secret take. */
const OVERLAP_SECONDS_MAX = 30 * 86_400;

export const WebhookSecretRotation = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS_MAX)
    .default(86_400)
    .describe('How long deliveries are signed with the earlier secret too.'),
});

export const MailConfirmation = z.strictObject({
  code: z
    .string()
    .min(1)
    .max(100)
    .describe('The code in the mail.')
    .meta({ example: '4f2a-91bc-07de-55a1-c3e8' }),
});

export const WebhookEndpointParams = z.object({ id: z.uuid() });
export const WebhookDeliveryParams = z.object({ id: z.uuid(), deliveryId: z.uuid() });

export const WebhookEndpointView = z.object({
  id: z.uuid(),
  object: z.literal('webhook_endpoint'),
  url: z.string(),
  events: z.array(z.string()),
  state: z
    .enum(['enabled', 'disabled', 'gone', 'failing', 'unconfirmed'])
    .describe(
      'Only `enabled` gets events. `gone` after a response with 410, `failing` after five days without a success, `unconfirmed` while the code of an e-mail address is not confirmed.',
    ),
  createdAt: z.iso.datetime(),
});

const Secret = z
  .string()
  .nullable()
  .describe('The secret that verifies deliveries. It is shown only once. An e-mail address has none.')
  .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' });

export const NewWebhookEndpointReply = WebhookEndpointView.extend({ secret: Secret });
export const WebhookEndpointList = z.object({
  object: z.literal('list'),
  data: z.array(WebhookEndpointView),
});
export const DeletedWebhookEndpoint = z.object({ id: z.uuid(), deleted: z.literal(true) });

export const WebhookDeliveryView = z.object({
  id: z.uuid(),
  object: z.literal('webhook_delivery'),
  eventId: z.string().describe('Sent as `webhook-id`, the same in every attempt.'),
  eventType: z.string(),
  state: z.enum(['pending', 'delivered', 'failed']),
  tries: z.int(),
  status: z.int().nullable().describe('The status of the latest response, if there was one.'),
  fault: z.string().nullable().describe('Why the latest attempt failed.'),
  createdAt: z.iso.datetime(),
  triedAt: z.iso.datetime().nullable(),
  nextTryAt: z.iso.datetime().nullable(),
});

export const WebhookDeliveryQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  before: z.uuid().optional().describe('The id of a delivery: only earlier ones.'),
});

export const WebhookDeliveryList = z.object({
  object: z.literal('list'),
  data: z.array(WebhookDeliveryView).describe('The newest first.'),
});

const terms = {
  currency: z.enum(['USD', 'DIEM']),
  amount: z
    .number()
    .positive()
    .max(9_000_000_000)
    .refine((amount) => numberToNano(amount) !== undefined, 'must have at most nine decimals')
    .meta({ example: 5 }),
};

const period = z
  .enum(ALERT_PERIODS)
  .describe('A UTC day, a week from Monday (UTC), a UTC calendar month, or the lifetime of the key or user.');

const members = {
  low: { type: z.literal('balance.low'), ...terms },
  spent: {
    type: z.literal('key.spend_threshold'),
    keyId: z.uuid(),
    period,
    ...terms,
  },
  spentByUser: {
    type: z.literal('end_user.spend_threshold'),
    endUser: z
      .string()
      .min(1)
      .max(512)
      .describe(
        'The name of an end user in requests, or the hash that stands for it. Responses have the hash.',
      )
      .meta({ example: 'alice' }),
    period,
    ...terms,
  },
};

/** What the account is notified of. */
export const Alerts = z.strictObject({
  alerts: z
    .array(
      z
        .discriminatedUnion('type', [
          z.strictObject(members.low),
          z.strictObject(members.spent),
          z.strictObject(members.spentByUser),
        ])
        .meta(namedMembers('NewAlert')),
    )
    .max(ALERTS_MAX),
});

export const AlertsReply = z.object({
  alerts: z.array(
    z
      .discriminatedUnion('type', [
        z.object(members.low),
        z.object(members.spent),
        z.object(members.spentByUser),
      ])
      .meta(namedMembers('Alert')),
  ),
});

export type NewWebhookEndpoint = z.infer<typeof NewWebhookEndpoint>;
export type WebhookEndpointChange = z.infer<typeof WebhookEndpointChange>;
export type MailConfirmation = z.infer<typeof MailConfirmation>;
export type WebhookSecretRotation = z.infer<typeof WebhookSecretRotation>;
export type WebhookEndpointView = z.infer<typeof WebhookEndpointView>;
export type NewWebhookEndpointReply = z.infer<typeof NewWebhookEndpointReply>;
export type WebhookEndpointList = z.infer<typeof WebhookEndpointList>;
export type DeletedWebhookEndpoint = z.infer<typeof DeletedWebhookEndpoint>;
export type WebhookDeliveryView = z.infer<typeof WebhookDeliveryView>;
export type WebhookDeliveryQuery = z.infer<typeof WebhookDeliveryQuery>;
export type WebhookDeliveryList = z.infer<typeof WebhookDeliveryList>;
export type Alerts = z.infer<typeof Alerts>;
