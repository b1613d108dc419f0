import { z } from 'zod';
import { defineEvent } from './events.js';

/** What customers can be notified of. Names of further events may follow. */
export const ACCOUNT_EVENT_TYPES = [
  'balance.low',
  'key.spend_threshold',
  'end_user.spend_threshold',
  'key.expiring',
  'payment.settled',
  'payment.reversed',
  'refund.created',
  'account.suspended',
  'account.resumed',
  'video.completed',
  'video.failed',
  'music.completed',
  'music.failed',
  'batch.completed',
  'batch.expired',
  'batch.cancelled',
  'model.deprecated',
  'webhook_endpoint.disabled',
] as const;
export type AccountEventType = (typeof ACCOUNT_EVENT_TYPES)[number];

/** What operators can be notified of. Names of further events may follow. */
export const OPERATOR_EVENT_TYPES = [
  'backend.ejected',
  'backend.paused',
  'backend.restored',
  'ledger.audit_failed',
  'catalog.changed',
  'catalog.refused',
  'webhook_endpoint.disabled',
] as const;
export type OperatorEventType = (typeof OPERATOR_EVENT_TYPES)[number];

/** Stands for the operator in place of an account. No account has this id. */
export const OPERATOR = '00000000-0000-0000-0000-000000000000';

/** Small facts, without the content of requests. */
const EventData = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const AccountEvent = z.object({
  /** The same for every delivery of the event. */
  id: z.string(),
  accountId: z.uuid(),
  /** A process of an earlier release does not know all types. */
  type: z.string(),
  /** ISO 8601 in UTC. */
  at: z.iso.datetime(),
  data: EventData,
  /** The only place to which it is delivered, signed by the webhook endpoint of the same origin. */
  callbackUrl: z.string().optional(),
});

/** Something that happened to an account, or that the operator is notified of. */
export type AccountEvent = z.infer<typeof AccountEvent>;

/** Stored together with the change that it reports, and delivered to the account's webhooks. */
export const accountEvent = defineEvent<AccountEvent>({
  topic: 'account.event.v1',
  key: ({ accountId }) => accountId,
  payload: AccountEvent,
});

export function newAccountEvent(
  accountId: string,
  type: AccountEventType | OperatorEventType | 'webhook.test' | 'webhook_endpoint.confirmation',
  data: AccountEvent['data'],
): AccountEvent {
  const id = `evt_${crypto.randomUUID().replaceAll('-', '')}`;
  return { id, accountId, type, at: new Date().toISOString(), data };
}
