import type { Alerts, NewWebhookEndpoint } from '@svc/api/webhooks';
import { call } from '../api/client.js';
import { withProof } from '../shell/proof.js';
import {
  DELIVERIES_AT_ONCE,
  type EndpointCalls,
  changesOf,
  chosenOf,
  deliveryPage,
} from './endpoint-calls.js';

const ENDPOINTS = '/api/v1/webhook_endpoints';
const ENDPOINT = '/api/v1/webhook_endpoints/:id';
const ALERTS = '/api/v1/alerts';

export type AccountAlert = Alerts['alerts'][number];

const EVENTS: Readonly<Record<NewWebhookEndpoint['events'][number], string>> = {
  'balance.low': 'A balance falls below an amount',
  'key.spend_threshold': 'A key has spent an amount',
  'end_user.spend_threshold': 'One of your users has spent an amount',
  'key.expiring': 'A key expires within three days',
  'payment.settled': 'A payment is credited',
  'payment.reversed': 'The credit of a payment is taken back',
  'refund.created': 'A charge is refunded',
  'account.suspended': 'The account is suspended',
  'account.resumed': 'The suspension has ended',
  'video.completed': 'A video is ready',
  'video.failed': 'A video has failed',
  'music.completed': 'Music is ready',
  'music.failed': 'Music has failed',
  'batch.completed': 'A batch is done',
  'batch.expired': 'A batch has expired',
  'batch.cancelled': 'A batch is cancelled',
  'model.deprecated': 'A model is deprecated',
  'webhook_endpoint.disabled': 'Another endpoint gets no more events',
};

/** The endpoints of the account that is signed in. */
export const ACCOUNT_ENDPOINTS: EndpointCalls = {
  events: EVENTS,
  list: async (signal) => (await call('GET', ENDPOINTS, { signal })).data,
  create: ({ url, events }) => {
    const body = { url, events: chosenOf(EVENTS, events) };
    return withProof(() => call('POST', ENDPOINTS, { body }));
  },
  confirm: (id, code) => call('POST', `${ENDPOINT}/confirm`, { params: { id }, body: { code } }),
  change: (current, terms) => {
    const body = { events: chosenOf(EVENTS, terms.events), ...changesOf(current, terms) };
    return withProof(() => call('PATCH', ENDPOINT, { params: { id: current.id }, body }));
  },
  rotate: async (id, overlapSeconds) => {
    const input = { params: { id }, body: { overlapSeconds } };
    return (await withProof(() => call('POST', `${ENDPOINT}/rotate`, input))).secret;
  },
  remove: (id) => call('DELETE', ENDPOINT, { params: { id } }),
  deliveries: async (id, before, signal) => {
    const query = { limit: DELIVERIES_AT_ONCE, before };
    const input = { params: { id }, query, ...(signal && { signal }) };
    return deliveryPage((await call('GET', `${ENDPOINT}/deliveries`, input)).data);
  },
  test: (id) => call('POST', `${ENDPOINT}/test`, { params: { id } }),
  replay: (id, deliveryId) =>
    call('POST', `${ENDPOINT}/deliveries/:deliveryId/replay`, { params: { id, deliveryId } }),
};

export const listAlerts = async (signal?: AbortSignal): Promise<AccountAlert[]> =>
  (await call('GET', ALERTS, signal && { signal })).alerts;

/** Who spends, and the period. */
const spendingOf = (alert: AccountAlert): string => {
  if (alert.type === 'balance.low') return '';
  const spender = alert.type === 'key.spend_threshold' ? alert.keyId : alert.endUser;
  return `${spender} ${alert.period}`;
};

const isSame = (a: AccountAlert, b: AccountAlert): boolean =>
  a.type === b.type && a.currency === b.currency && a.amount === b.amount && spendingOf(a) === spendingOf(b);

/** The alerts are set together, so the others are those of now. */
export async function addAlert(alert: AccountAlert): Promise<void> {
  const others = (await listAlerts()).filter((each) => !isSame(each, alert));
  await call('PUT', ALERTS, { body: { alerts: [...others, alert] } });
}

export async function removeAlert(alert: AccountAlert): Promise<void> {
  const others = (await listAlerts()).filter((each) => !isSame(each, alert));
  await call('PUT', ALERTS, { body: { alerts: others } });
}
