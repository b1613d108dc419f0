import type { NewOperatorEndpoint } from '@svc/api/operator';
import { ask, may } from '../desk/operator.js';
import { Scoped } from '../desk/scoped.js';
import {
  DELIVERIES_AT_ONCE,
  type EndpointCalls,
  changesOf,
  chosenOf,
  deliveryPage,
} from '../webhooks/endpoint-calls.js';
import { EndpointsSection } from '../webhooks/endpoints.js';

const ENDPOINTS = '/operator/v1/webhook_endpoints';
const ENDPOINT = '/operator/v1/webhook_endpoints/:id';

const EVENTS: Readonly<Record<NewOperatorEndpoint['events'][number], string>> = {
  'backend.ejected': 'A backend fails, or a node is of another chain',
  'backend.paused': 'A backend is taken out of service',
  'backend.restored': 'A backend serves again',
  'ledger.audit_failed': 'An audit finds the books wrong',
  'catalog.changed': 'Another version of the catalogue is in force',
  'catalog.refused': 'A version of the catalogue is refused',
  'webhook_endpoint.disabled': 'Another endpoint gets no more events',
};

const OPERATOR_ENDPOINTS: EndpointCalls = {
  events: EVENTS,
  list: async (signal) => (await ask('GET', ENDPOINTS, { signal })).data,
  create: ({ url, events }) => ask('POST', ENDPOINTS, { body: { url, events: chosenOf(EVENTS, events) } }),
  change: (current, terms) => {
    const body = { events: chosenOf(EVENTS, terms.events), ...changesOf(current, terms) };
    return ask('PATCH', ENDPOINT, { params: { id: current.id }, body });
  },
  rotate: async (id, overlapSeconds) =>
    (await ask('POST', `${ENDPOINT}/rotate`, { params: { id }, body: { overlapSeconds } })).secret,
  remove: (id) => ask('DELETE', ENDPOINT, { params: { id } }),
  deliveries: async (id, before, signal) => {
    const query = { limit: DELIVERIES_AT_ONCE, before };
    const input = { params: { id }, query, ...(signal && { signal }) };
    return deliveryPage((await ask('GET', `${ENDPOINT}/deliveries`, input)).data);
  },
  test: (id) => ask('POST', `${ENDPOINT}/test`, { params: { id } }),
  replay: (id, deliveryId) =>
    ask('POST', `${ENDPOINT}/deliveries/:deliveryId/replay`, { params: { id, deliveryId } }),
};

/** Where the operator is notified of what happens to the whole service. */
export const NoticesPage = () => (
  <>
    <Scoped scope="keys" what="Changing an endpoint">
      {null}
    </Scoped>
    <EndpointsSection calls={OPERATOR_ENDPOINTS} mayChange={may('keys')} />
  </>
);
