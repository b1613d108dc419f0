import { SECONDS } from '../cells/boundaries.js';
import { Counter, Gauge, Histogram } from '../cells/metrics.js';

/** HTTP requests to a process, and its responses. */
export const requests = {
  duration: new Histogram(
    {
      name: 'http.server.request.duration',
      unit: 's',
      help: 'From the head of a request to the last byte of its answer.',
      labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    },
    SECONDS.http,
  ),
  active: new Gauge({
    name: 'http.server.active_requests',
    unit: '{request}',
    help: 'Requests whose answer has not ended.',
    labels: [],
  }),
  problems: new Counter({
    name: 'svc.http.problems',
    unit: '{problem}',
    help: 'Requests that ended with a problem, by its code and route, also those whose stream had begun.',
    labels: ['http.route', 'svc.problem'],
  }),
  endedEarly: new Counter(
    {
      name: 'svc.http.ended_early',
      unit: '{answer}',
      help: 'Answers that ended before their backend did: the client has gone, money ran out, the backend broke off.',
      labels: ['svc.ending'],
    },
    [['client_gone'], ['cut']],
  ),
};
