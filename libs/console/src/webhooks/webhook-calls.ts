import type { Alerts, NewWebhookEndpoint } from '@svc/api/webhooks';
import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';
import { withProof } from '../shell/proof.js';

const ENDPOINTS = '/api/v1/webhook_endpoints';
const ENDPOINT = '/api/v1/webhook_endpoints/:id';
const ALERTS = '/api/v1/alerts';
const DELIVERIES_AT_ONCE = 20;

export type Endpoint = ReplyAt<'GET', typeof ENDPOINT>;
export type SentDelivery = ReplyAt<'GET', '/api/v1/webhook_endpoints/:id/deliveries'>['data'][number];
export type EventType = NewWebhookEndpoint['events'][number];
export type AccountAlert = Alerts['alerts'][number];

/** What the form of an endpoint has. */
export interface EndpointTerms {
  readonly url: string;
  readonly events: EventType[];
  readonly enabled: boolean;
}

export const listEndpoints = async (signal: AbortSignal): Promise<Endpoint[]> =>
  (await call('GET', ENDPOINTS, { signal })).data;

/** Creates an endpoint and returns its secret. */
export async function createEndpoint({ url, events }: EndpointTerms): Promise<string> {
  return (await withProof(() => call('POST', ENDPOINTS, { body: { url, events } }))).secret;
}

/** What is as it was is left out: a new URL needs a proof, and enabling begins again. */
export async function changeEndpoint(current: Endpoint, terms: EndpointTerms): Promise<void> {
  const { url, events, enabled } = terms;
  const body = {
    events,
    ...(url !== current.url && { url }),
    ...(enabled !== (current.state === 'enabled') && { enabled }),
  };
  await withProof(() => call('PATCH', ENDPOINT, { params: { id: current.id }, body }));
}

/** Gives an endpoint a new secret and returns it. The earlier one signs for `overlapSeconds` more. */
export async function rotateSecret(id: string, overlapSeconds: number): Promise<string> {
  const input = { params: { id }, body: { overlapSeconds } };
  return (await withProof(() => call('POST', `${ENDPOINT}/rotate`, input))).secret;
}

export async function deleteEndpoint(id: string): Promise<void> {
  await call('DELETE', ENDPOINT, { params: { id } });
}

/** A page of deliveries, newest first, and where the next one begins. */
export async function listDeliveries(id: string, before?: string, signal?: AbortSignal) {
  const query = { limit: DELIVERIES_AT_ONCE, before };
  const input = { params: { id }, query, ...(signal && { signal }) };
  const { data } = await call('GET', `${ENDPOINT}/deliveries`, input);
  return { data, nextBefore: data.length < DELIVERIES_AT_ONCE ? null : (data.at(-1)?.id ?? null) };
}

export async function sendTest(id: string): Promise<void> {
  await call('POST', `${ENDPOINT}/test`, { params: { id } });
}

export async function replay(id: string, deliveryId: string): Promise<void> {
  await call('POST', `${ENDPOINT}/deliveries/:deliveryId/replay`, { params: { id, deliveryId } });
}

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
