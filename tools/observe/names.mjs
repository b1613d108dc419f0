// Metrics by their names in Prometheus, from the catalogue: what does not exist there can't be asked for. Needs the build.
import { ROOMS, prometheusName } from '../../libs/telemetry/dist/index.js';

/** Members of a room: an unknown one is a fault, and no `undefined` in a query. */
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

/** Labels that stand in many queries. */
export const MODEL = 'gen_ai_request_model';
export const BACKEND = 'svc_backend';
export const STATUS = 'http_response_status_code';
export const ROUTE = 'http_route';
export const TOPIC = 'messaging_destination_name';
export const GROUP = 'messaging_consumer_group_name';

/** What clients use, by its routes. */
export const FOR_CLIENTS = `${ROUTE}=~"/api/.+"`;

const RATE = '$__rate_interval';
const braced = (...selectors) => {
  const given = selectors.filter((selector) => selector);
  return given.length > 0 ? `{${given.join(',')}}` : '';
};
const by = (labels) => (labels ? ` by (${labels})` : '');

/** Per second, as a panel shows it. */
export const rate = (name, labels, selector) =>
  `sum${by(labels)} (rate(${name}${braced(selector)}[${RATE}]))`;
export const rise = (name, labels, selector) =>
  `sum${by(labels)} (increase(${name}${braced(selector)}[${RATE}]))`;
/** A quantile of a histogram; its name may have a selector behind it. */
export function quantile(q, name, labels) {
  const [, base, selector = ''] = /^([^{]+)(\{.*\})?$/.exec(name);
  const sides = ['le', labels].filter(Boolean).join(', ');
  return `histogram_quantile(${q}, sum by (${sides}) (rate(${base}_bucket${selector}[${RATE}])))`;
}
export const total = (name, labels, selector) => `sum${by(labels)} (${name}${braced(selector)})`;
export const most = (name, labels, selector) => `max${by(labels)} (${name}${braced(selector)})`;
export const least = (name, labels, selector) => `min${by(labels)} (${name}${braced(selector)})`;
