import type { ChatRequest, SvcParameters } from '@svc/api/chat';
import type { CompletionRequest } from '@svc/api/completions';
import type { ResponseRequest } from '@svc/api/responses';
import type { MessagesRequest } from '@svc/api/messages';

/**
 * How a field is treated. `honoured`: this service acts on it. `passed on`: checked here, and for the backend
 * to act on. `not used`: accepted, so that clients that always send it work. `refused`: a 400 says what to
 * use instead.
 */
type Treatment = 'honoured' | 'passed on' | 'not used' | 'refused';

/** Every field of a chat completion; a missing one does not compile. */
const CHAT_TREATMENTS: Readonly<Record<keyof typeof ChatRequest.shape, Treatment>> = {
  model: 'honoured',
  messages: 'honoured',
  stream: 'honoured',
  stream_options: 'honoured',
  temperature: 'passed on',
  top_p: 'passed on',
  top_k: 'passed on',
  min_p: 'passed on',
  min_temp: 'passed on',
  max_temp: 'passed on',
  frequency_penalty: 'passed on',
  presence_penalty: 'passed on',
  repetition_penalty: 'passed on',
  logit_bias: 'passed on',
  n: 'honoured',
  seed: 'passed on',
  stop: 'passed on',
  stop_token_ids: 'passed on',
  max_completion_tokens: 'honoured',
  max_tokens: 'honoured',
  logprobs: 'passed on',
  top_logprobs: 'passed on',
  response_format: 'passed on',
  tools: 'honoured',
  tool_choice: 'honoured',
  parallel_tool_calls: 'passed on',
  functions: 'refused',
  function_call: 'refused',
  reasoning: 'honoured',
  reasoning_effort: 'honoured',
  verbosity: 'passed on',
  text: 'passed on',
  modalities: 'passed on',
  audio: 'refused',
  prompt_cache_key: 'honoured',
  session_id: 'honoured',
  prompt_cache_retention: 'passed on',
  user: 'not used',
  store: 'not used',
  include: 'not used',
  metadata: 'not used',
  models: 'honoured',
  fallbacks: 'honoured',
  fallback_on: 'honoured',
  service_tier: 'honoured',
  svc_parameters: 'honoured',
};

/** Fields that other endpoints share with chat completions, and that mean the same there. */
const SAMPLING = {
  temperature: CHAT_TREATMENTS.temperature,
  top_p: CHAT_TREATMENTS.top_p,
  top_k: CHAT_TREATMENTS.top_k,
  min_p: CHAT_TREATMENTS.min_p,
  min_temp: CHAT_TREATMENTS.min_temp,
  max_temp: CHAT_TREATMENTS.max_temp,
  frequency_penalty: CHAT_TREATMENTS.frequency_penalty,
  presence_penalty: CHAT_TREATMENTS.presence_penalty,
  repetition_penalty: CHAT_TREATMENTS.repetition_penalty,
  logit_bias: CHAT_TREATMENTS.logit_bias,
  seed: CHAT_TREATMENTS.seed,
  stop: CHAT_TREATMENTS.stop,
  stop_token_ids: CHAT_TREATMENTS.stop_token_ids,
} as const;

/** The same for text completions. */
const COMPLETION_TREATMENTS: Readonly<Record<keyof typeof CompletionRequest.shape, Treatment>> = {
  ...SAMPLING,
  model: 'honoured',
  prompt: 'honoured',
  echo: 'honoured',
  suffix: 'refused',
  best_of: 'honoured',
  n: 'honoured',
  logprobs: 'passed on',
  max_tokens: 'honoured',
  stream: 'honoured',
  stream_options: 'honoured',
  response_format: 'passed on',
  reasoning_effort: 'honoured',
  prompt_cache_key: 'honoured',
  session_id: 'honoured',
  user: 'not used',
  metadata: 'not used',
  models: 'honoured',
  fallbacks: 'honoured',
  fallback_on: 'honoured',
  service_tier: 'honoured',
  svc_parameters: 'honoured',
};

/** The same for responses. */
const RESPONSE_TREATMENTS: Readonly<Record<keyof typeof ResponseRequest.shape, Treatment>> = {
  ...SAMPLING,
  model: 'honoured',
  input: 'honoured',
  instructions: 'honoured',
  stream: 'honoured',
  stream_options: 'not used',
  tools: 'honoured',
  tool_choice: 'honoured',
  parallel_tool_calls: 'passed on',
  max_tool_calls: 'not used',
  text: 'passed on',
  reasoning: 'honoured',
  max_output_tokens: 'honoured',
  top_logprobs: 'passed on',
  include: 'honoured',
  prompt_cache_key: 'honoured',
  session_id: 'honoured',
  prompt_cache_retention: 'passed on',
  truncation: 'refused',
  store: 'not used',
  previous_response_id: 'refused',
  conversation: 'refused',
  background: 'refused',
  prompt: 'refused',
  web_search: 'honoured',
  models: 'honoured',
  fallbacks: 'honoured',
  fallback_on: 'honoured',
  service_tier: 'honoured',
  safety_identifier: 'not used',
  user: 'not used',
  metadata: 'not used',
  svc_parameters: 'honoured',
};

/** The same for messages. */
const MESSAGE_TREATMENTS: Readonly<Record<keyof typeof MessagesRequest.shape, Treatment>> = {
  model: 'honoured',
  messages: 'honoured',
  system: 'honoured',
  tools: 'honoured',
  tool_choice: 'honoured',
  thinking: 'honoured',
  output_config: 'honoured',
  output_format: 'passed on',
  cache_control: 'not used',
  svc_parameters: 'honoured',
  max_tokens: 'honoured',
  stream: 'honoured',
  stop_sequences: 'passed on',
  temperature: SAMPLING.temperature,
  top_p: SAMPLING.top_p,
  top_k: SAMPLING.top_k,
  session_id: 'honoured',
  metadata: 'not used',
  service_tier: 'not used',
  models: 'honoured',
  fallbacks: 'honoured',
  fallback_on: 'honoured',
  context_management: 'not used',
  speed: 'not used',
  container: 'refused',
  inference_geo: 'refused',
  mcp_servers: 'refused',
};

/** The same for this service's own options. A refused option may still be switched off explicitly. */
const SVC_TREATMENTS: Readonly<Record<keyof typeof SvcParameters.shape, Treatment>> = {
  character_slug: 'honoured',
  strip_thinking_response: 'honoured',
  disable_thinking: 'honoured',
  enable_e2ee: 'honoured',
  enable_web_search: 'honoured',
  enable_web_scraping: 'honoured',
  enable_web_citations: 'honoured',
  enable_x_search: 'honoured',
  include_search_results_in_stream: 'honoured',
  return_search_results_as_documents: 'honoured',
  include_venice_system_prompt: 'honoured',
  include_svc_system_prompt: 'honoured',
};

/** How the fields of each endpoint for completions are treated, and those of `svc_parameters`. */
export const TREATMENTS = {
  chat: CHAT_TREATMENTS,
  completion: COMPLETION_TREATMENTS,
  message: MESSAGE_TREATMENTS,
  response: RESPONSE_TREATMENTS,
  svc: SVC_TREATMENTS,
};
