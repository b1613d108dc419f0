import { SECONDS } from '../cells/boundaries.js';
import { Counter, Gauge, Histogram } from '../cells/metrics.js';
import { genAi } from './gen-ai.js';

/** Model responses, as clients see them. */
export const inference = {
  duration: new Histogram(
    {
      name: 'gen_ai.server.request.duration',
      unit: 's',
      help: 'Completions from their first byte in to their last byte out.',
      labels: ['gen_ai.request.model', 'error.type'],
      constants: genAi,
    },
    SECONDS.inference,
  ),
  firstToken: new Histogram(
    {
      name: 'gen_ai.server.time_to_first_token',
      unit: 's',
      help: 'Streams: from the request to the first chunk that its client got.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.firstToken,
  ),
  perToken: new Histogram(
    {
      name: 'gen_ai.server.time_per_output_token',
      unit: 's',
      help: 'Streams: the time from the first chunk to the end, by the tokens after the first.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.perToken,
  ),
  inputTokens: new Counter({
    name: 'gen_ai.client.inference.usage.input_tokens',
    unit: '{token}',
    help: 'Tokens of prompts that were charged.',
    labels: ['gen_ai.request.model', 'svc.backend'],
    constants: genAi,
  }),
  outputTokens: new Counter({
    name: 'gen_ai.client.inference.usage.output_tokens',
    unit: '{token}',
    help: 'Tokens of answers that were charged.',
    labels: ['gen_ai.request.model', 'svc.backend'],
    constants: genAi,
  }),
  doubted: new Counter({
    name: 'svc.gateway.counts_doubted',
    unit: '{count}',
    help: 'Counts of backends that can not be true, too high or too low for what was sent or delivered, and were not charged.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.doubt'],
  }),
  streams: new Gauge({
    name: 'svc.gateway.streams',
    unit: '{stream}',
    help: 'Completions under way.',
    labels: [],
  }),
  letGo: new Histogram(
    {
      name: 'svc.gateway.abort.duration',
      unit: 's',
      help: 'From the moment a client has gone until its backend is let go and its answer settled.',
      labels: [],
    },
    SECONDS.call,
  ),
};
