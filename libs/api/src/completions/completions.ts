import { z } from 'zod';
import { CHARS, chars } from '../chat/chat-bounds.js';
import { ChatRequest } from '../chat/chat-request.js';
import {
  Cost,
  ServedTier,
  StreamedSvcParameters,
  SvcParametersEcho,
  UsageView,
} from '../chat/chat-response.js';

/** The most log probabilities per token. OpenAI allows 5, other servers more. */
const LOGPROBS_AT_MOST = 20;

const TOKEN_ARRAYS = 'Arrays of tokens are not supported; send the prompt as text';

const isTokens = (value: unknown): boolean => typeof value === 'number' || Array.isArray(value);

const Prompt = z
  .string({ error: ({ input }) => (isTokens(input) ? TOKEN_ARRAYS : undefined) })
  .min(1)
  .max(CHARS.text);

/** Accepts only what means the same as leaving a field out. */
const without = (value: string | number, message: string) => z.literal(value, message).nullish();

const of = ChatRequest.shape;

/** The body of a legacy text completion. Unknown fields are passed to the backend unchanged. */
export const CompletionRequest = z.looseObject({
  model: of.model,
  prompt: z.union([
    Prompt,
    z
      .array(Prompt)
      .length(1, { error: 'A request has one prompt; send one request for each prompt' })
      .meta({ description: 'A list of one prompt.' }),
  ]),
  echo: z.boolean().nullish(),
  suffix: without('', 'suffix is not offered; put the text around the gap into the prompt'),
  best_of: z.int().min(1).nullish(),
  n: of.n,
  logprobs: z.int().min(0).max(LOGPROBS_AT_MOST).nullish(),
  max_tokens: z.int().min(1).nullish(),
  stream: of.stream,
  stream_options: of.stream_options,
  temperature: of.temperature,
  top_p: of.top_p,
  top_k: of.top_k,
  min_p: of.min_p,
  min_temp: of.min_temp,
  max_temp: of.max_temp,
  frequency_penalty: of.frequency_penalty,
  presence_penalty: of.presence_penalty,
  repetition_penalty: of.repetition_penalty,
  logit_bias: of.logit_bias,
  seed: of.seed,
  stop: of.stop,
  stop_token_ids: of.stop_token_ids,
  response_format: of.response_format,
  reasoning_effort: of.reasoning_effort,
  prompt_cache_key: of.prompt_cache_key,
  session_id: of.session_id,
  user: chars(CHARS.id * 2).nullish(),
  metadata: of.metadata,
  models: of.models,
  fallbacks: of.fallbacks,
  fallback_on: of.fallback_on,
  service_tier: of.service_tier,
  svc_parameters: of.svc_parameters,
});

const Logprobs = z
  .looseObject({
    tokens: z.array(z.string()),
    token_logprobs: z.array(z.number()),
    top_logprobs: z.array(z.record(z.string(), z.number())),
    text_offset: z.array(z.int().nonnegative()).describe('Where each token begins, in UTF-16 code units.'),
  })
  .meta({ title: 'CompletionLogprobs' });

const FinishReason = z.enum(['stop', 'length', 'content_filter']);

const choice = {
  index: z.int().nonnegative(),
  text: z.string(),
  logprobs: Logprobs.nullable(),
};

const head = {
  id: z.string(),
  object: z.literal('text_completion'),
  created: z.int(),
  model: z.string(),
};

export const TextCompletion = z.looseObject({
  ...head,
  choices: z.array(z.looseObject({ ...choice, finish_reason: FinishReason })),
  usage: UsageView,
  cost: Cost,
  service_tier: ServedTier.optional(),
  svc_parameters: SvcParametersEcho,
});

/** The data of one event of a streamed completion. The last one carries `usage` and `cost`. */
export const TextCompletionChunk = z.looseObject({
  ...head,
  choices: z.array(z.looseObject({ ...choice, finish_reason: FinishReason.nullable() })),
  usage: UsageView.optional(),
  service_tier: ServedTier.optional(),
  cost: Cost.optional(),
  svc_parameters: StreamedSvcParameters.optional(),
});

export type CompletionRequest = z.infer<typeof CompletionRequest>;
