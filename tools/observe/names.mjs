// Metric names in Prometheus, from the catalogue, so that queries can't use metrics that do not exist. Needs
// the build.
import { ROOMS, prometheusName } from '@svc/telemetry';

/** The metrics of a room. An unknown one throws, instead of becoming `undefined` in a query. */
const strict = (what, members) =>
  new Proxy(members, {
    get: (target, key) => {
      if (!(key in target)) throw new Error(`${what} has no ${String(key)}`);
      return target[key];
    },
  });

const namesOf = (room) =>
  Object.fromEntries(Object.entries(room).map(([key, metric]) => [key, prometheusName(metric)]));

/** `m.money.charged` is `svc_money_charged_total`. */
export const m = strict(
  'the catalogue',
  Object.fromEntries(Object.entries(ROOMS).map(([name, room]) => [name, strict(name, namesOf(room))])),
);

/** Labels used in many queries. */
export const MODEL = 'gen_ai_request_model';
export const BACKEND = 'svc_backend';
export const STATUS = 'http_response_status_code';
export const ROUTE = 'http_route';
export const TOPIC = 'messaging_destination_name';
export const GROUP = 'messaging_consumer_group_name';

/** The public API, by its routes. */
export const FOR_CLIENTS = `${ROUTE}=~"/api/.+"`;

const RATE = '$__rate_interval';
const braced = (...selectors) => {
  const given = selectors.filter((selector) => selector);
  return given.length > 0 ? `{${given.join(',')}}` : '';
};
const by = (labels) => (labels ? ` by (${labels})` : '');

/** Rate per second, as shown on panels. */
export const rate = (name, labels, selector) =>
  `sum${by(labels)} (rate(${name}${braced(selector)}[${RATE}]))`;
export const rise = (name, labels, selector) =>
  `sum${by(labels)} (increase(${name}${braced(selector)}[${RATE}]))`;
/** A quantile of a histogram; its name may be followed by a selector. */
export function quantile(q, name, labels) {
  const [, base, selector = ''] = /^([^{]+)(\{.*\})?$/.exec(name);
  const sides = ['le', labels].filter(Boolean).join(', ');
  return `histogram_quantile(${q}, sum by (${sides}) (rate(${base}_bucket${selector}[${RATE}])))`;
}
export const total = (name, labels, selector) => `sum${by(labels)} (${name}${braced(selector)})`;
export const most = (name, labels, selector) => `max${by(labels)} (${name}${braced(selector)})`;
export const least = (name, labels, selector) => `min${by(labels)} (${name}${braced(selector)})`;
