import { SECONDS } from '../cells/boundaries.js';
import { Counter, Gauge, Histogram } from '../cells/metrics.js';
import { genAi } from './gen-ai.js';

/** Backends. */
export const router = {
  attempts: new Counter({
    name: 'svc.router.attempts',
    unit: '{attempt}',
    help: 'Requests to backends by what became of them: answered, refused, failed, aborted, full.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.outcome'],
  }),
  errors: new Counter({
    name: 'svc.router.errors',
    unit: '{error}',
    help: 'Error responses of backends by HTTP status, in place of a response or inside one of status 200.',
    labels: ['gen_ai.request.model', 'svc.backend', 'http.response.status_code'],
  }),
  retries: new Counter({
    name: 'svc.router.retries',
    unit: '{retry}',
    help: 'Requests to another backend after one that failed.',
    labels: ['gen_ai.request.model'],
  }),
  ejections: new Counter({
    name: 'svc.router.ejections',
    unit: '{ejection}',
    help: 'How often a backend was put last for a while, since it failed.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  up: new Gauge({
    name: 'svc.router.backend.up',
    unit: '1',
    help: 'Whether a backend is asked as usual: 1, or 0 while it is put last.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  inFlight: new Gauge({
    name: 'svc.router.backend.in_flight',
    unit: '{request}',
    help: 'Requests that a backend has in hand from this process.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  room: new Gauge({
    name: 'svc.router.backend.room',
    unit: '{request}',
    help: 'How many more it may have at once.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  duration: new Histogram(
    {
      name: 'gen_ai.client.inference.duration',
      unit: 's',
      help: 'Calls to backends, from the request to the last byte of the response.',
      labels: ['gen_ai.request.model', 'svc.backend', 'error.type'],
      constants: genAi,
    },
    SECONDS.inference,
  ),
  firstChunk: new Histogram(
    {
      name: 'gen_ai.client.inference.time_to_first_chunk',
      unit: 's',
      help: 'Streams: from the request to a backend to the first chunk of its response.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.firstToken,
  ),
};
