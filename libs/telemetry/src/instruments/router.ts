import { SECONDS } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';
import { genAi } from './inference.js';

/** Backends. */
export const router = {
  attempts: new Counter({
    name: 'svc.router.attempts',
    unit: '{attempt}',
    help: 'Requests to backends by outcome: answered, refused, failed, aborted, full.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.outcome'],
  }),
  errors: new Counter({
    name: 'svc.router.errors',
    unit: '{error}',
    help: 'Error responses of backends by HTTP status, including errors inside a response with status 200.',
    labels: ['gen_ai.request.model', 'svc.backend', 'http.response.status_code'],
  }),
  retries: new Counter({
    name: 'svc.router.retries',
    unit: '{retry}',
    help: 'Retries on another backend after a failure.',
    labels: ['gen_ai.request.model'],
  }),
  ejections: new Counter({
    name: 'svc.router.ejections',
    unit: '{ejection}',
    help: 'Pauses of a backend, during which it is used only if no other is left, by reason: failure, down (its checks fail), errors (more than the others), slow.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.reason'],
  }),
  retriesRefused: new Counter({
    name: 'svc.router.retries_refused',
    unit: '{retry}',
    help: 'Failures after which no other backend was called, as too many calls were retries already.',
    labels: ['gen_ai.request.model'],
  }),
  checks: new Counter({
    name: 'svc.router.checks',
    unit: '{check}',
    help: 'Checks of backends by outcome: answered, failed.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.outcome'],
  }),
  drained: new Gauge({
    name: 'svc.router.backend.drained',
    unit: '1',
    help: '1 if an operator has taken a backend out of service, otherwise 0.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  choices: new Counter({
    name: 'svc.router.choices',
    unit: '{request}',
    help: 'Requests with a choice of backends, by the reason for the first one: prefix (it has a part of the prompt in its cache), key, load.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.reason'],
  }),
  promptTokens: new Counter({
    name: 'svc.router.prompt_tokens',
    unit: '{token}',
    help: 'Prompt tokens that backends have counted in requests with a choice of backends: cached or computed.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.router.cache'],
  }),
  up: new Gauge({
    name: 'svc.router.backend.up',
    unit: '1',
    help: '1 if a backend is used normally, 0 while it pauses, or if it is a node of a wrong chain. Absent while it is out of service.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  inFlight: new Gauge({
    name: 'svc.router.backend.in_flight',
    unit: '{request}',
    help: 'Running requests of this process to a backend.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  room: new Gauge({
    name: 'svc.router.backend.room',
    unit: '{request}',
    help: 'Further requests of this process that a backend may take concurrently.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  wrongChain: new Gauge({
    name: 'svc.router.node.wrong_chain',
    unit: '1',
    help: '1 if a blockchain node is of another chain than its network and is not used, otherwise 0.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  lag: new Gauge({
    name: 'svc.router.node.lag',
    unit: '{block}',
    help: 'Blocks (on Solana slots) by which a node is behind the best one of its network, while it has requests.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  behind: new Gauge({
    name: 'svc.router.node.behind',
    unit: '1',
    help: "1 if a blockchain node is farther behind than its network's `maxLagBlocks` and is used last, otherwise 0.",
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  duration: new Histogram(
    {
      name: 'gen_ai.client.operation.duration',
      unit: 's',
      help: 'Duration of calls to backends, from the request to the last byte of the response.',
      labels: ['gen_ai.request.model', 'svc.backend', 'error.type'],
      constants: genAi,
    },
    SECONDS.operation,
  ),
  firstChunk: new Histogram(
    {
      name: 'gen_ai.client.operation.time_to_first_chunk',
      unit: 's',
      help: 'Streams: time from the request to a backend to the first chunk of its response.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.operation,
  ),
};
