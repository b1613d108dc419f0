import { SECONDS } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/** HTTP requests to a process, and its responses. */
export const requests = {
  duration: new Histogram(
    {
      name: 'http.server.request.duration',
      unit: 's',
      help: 'Duration of requests, from the request headers to the last byte of the response.',
      labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    },
    SECONDS.http,
  ),
  active: new Gauge({
    name: 'http.server.active_requests',
    unit: '{request}',
    help: 'Requests whose response has not ended.',
    labels: [],
    addsUp: true,
  }),
  problems: new Counter({
    name: 'svc.http.problems',
    unit: '{problem}',
    help: 'Requests that ended with an error, by code and route, including streams that had begun.',
    labels: ['http.route', 'svc.problem'],
  }),
  operatorRefusals: new Counter(
    {
      name: 'svc.operator.refusals',
      unit: '{request}',
      help: "Requests to the operator's API without a valid token: `wrong`, `expired`, or without the needed `scope`.",
      labels: ['svc.refusal'],
    },
    [['wrong'], ['expired'], ['scope']],
  ),
  operatorExpiry: new Gauge({
    name: 'svc.operator.token.expiry_time',
    unit: 's',
    help: "When an operator's token expires, as Unix time, by the name of the token.",
    labels: ['svc.operator.token'],
  }),
  endedEarly: new Counter(
    {
      name: 'svc.http.ended_early',
      unit: '{answer}',
      help: 'Responses that ended early: the client disconnected, the balance ran out or the backend broke off.',
      labels: ['svc.ending'],
    },
    [['client_gone'], ['cut']],
  ),
};
