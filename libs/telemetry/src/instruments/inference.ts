import { SECONDS, TOKENS } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/**
 * The attributes that the conventions for generative AI require on every metric and every span of a model
 * call. The provider is this platform: a backend's vendor is unknown, and `svc.backend` names the backend.
 */
export const genAi = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'svc' } as const;

/** Model responses, as clients see them. */
export const inference = {
  duration: new Histogram(
    {
      name: 'gen_ai.server.request.duration',
      unit: 's',
      help: 'Duration of completions, from the first byte of the request to the last byte of the response.',
      labels: ['gen_ai.request.model', 'error.type'],
      constants: genAi,
    },
    SECONDS.inference,
  ),
  firstToken: new Histogram(
    {
      name: 'gen_ai.server.time_to_first_token',
      unit: 's',
      help: 'Streams: time from the request to the first chunk sent to the client.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.firstToken,
  ),
  perToken: new Histogram(
    {
      name: 'gen_ai.server.time_per_output_token',
      unit: 's',
      help: 'Streams: time per output token after the first chunk.',
      labels: ['gen_ai.request.model', 'svc.backend'],
      constants: genAi,
    },
    SECONDS.perToken,
  ),
  tokens: new Histogram(
    {
      name: 'gen_ai.client.token.usage',
      unit: '{token}',
      help: 'Tokens charged for a completion, by type: `input` of the prompt, `output` of the response.',
      labels: ['gen_ai.request.model', 'svc.backend', 'gen_ai.token.type'],
      constants: genAi,
    },
    TOKENS,
  ),
  doubted: new Counter({
    name: 'svc.gateway.counts_doubted',
    unit: '{count}',
    help: 'Implausible token counts of backends, too high or too low for the prompt or the delivered text, which were replaced by own counts.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.doubt'],
  }),
  fallbacks: new Counter({
    name: 'svc.gateway.fallbacks',
    unit: '{completion}',
    help: 'Completions by another model than the one that was requested, as that could not respond.',
    labels: ['gen_ai.request.model', 'gen_ai.response.model'],
  }),
  unknownFinishes: new Counter({
    name: 'svc.gateway.unknown_finish_reasons',
    unit: '{completion}',
    help: 'Completions whose backend gave a finish reason that no known interface has, which were taken for complete.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.finish_reason'],
  }),
  faultyImages: new Counter({
    name: 'svc.gateway.faulty_images',
    unit: '{image}',
    help: 'Images of backends that were broken or all black. They are neither delivered nor charged.',
    labels: ['gen_ai.request.model', 'svc.backend'],
  }),
  doubtedLengths: new Counter({
    name: 'svc.gateway.audio_lengths_doubted',
    unit: '{file}',
    help: 'Audio files of which a backend reports another length than was measured: `shorter`, `longer`, or more text than anybody says in that time. Of the latter two nothing is delivered or charged.',
    labels: ['gen_ai.request.model', 'svc.backend', 'svc.doubt'],
  }),
  nodeReads: new Counter({
    name: 'svc.gateway.node_reads',
    unit: '{call}',
    help: 'Calls that read from blockchain nodes: made, shared with another client, or answered with a kept result.',
    labels: ['gen_ai.request.model', 'svc.gateway.source'],
  }),
  streams: new Gauge({
    name: 'svc.gateway.streams',
    unit: '{stream}',
    help: 'Running completions.',
    labels: [],
  }),
  letGo: new Histogram(
    {
      name: 'svc.gateway.abort.duration',
      unit: 's',
      help: 'Time from the disconnection of a client until its backend request is cancelled and its completion is settled.',
      labels: [],
    },
    SECONDS.call,
  ),
};
