import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropSteering, isSteering, withoutSteering } from './steering-members.js';

/** By what they steer. */
const STEERING = {
  addresses: [
    'api_base',
    'base_url',
    'bootstrap_host',
    'bootstrap_port',
    'bootstrap_room',
    'bootstrap_pair_key',
    'kv_transfer_params',
    'ec_transfer_params',
    'disaggregated_params',
    'disagg_prefill_dp_rank',
    'http_worker_ipc',
    'aws_bedrock_runtime_endpoint',
  ],
  keys: ['api_key', 'extra_headers', 'vertex_credentials', 'user_config'],
  'what is loaded': ['lora', 'lora_path', 'lora_request', 'loraRequest', 'adapter_id', 'keep_alive'],
  turns: ['priority', 'service_tier', 'scheduling_params', 'data_parallel_rank', 'routed_dp_rank'],
  'caches, slots and sessions': [
    'cache_salt',
    'extra_key',
    'cache_prompt',
    'cache',
    'id_slot',
    'slot_id',
    'rid',
    'request_id',
    'session_id',
    'session_params',
    'previous_response_id',
  ],
  'code, templates and patterns': [
    'chat_template',
    'custom_logit_processor',
    'logits_processors',
    'custom_params',
    'stop_regex',
    'guided_decoding_backend',
    'speculative.n_max',
    'mm_processor_kwargs',
    'media_io_kwargs',
  ],
  'other requests': [
    'extra_body',
    'nvext',
    'vllm_xargs',
    'options',
    'generation_config',
    'sampling_params',
    'litellm_params',
    'mock_response',
  ],
  'other prompts': ['input_ids', 'prompt_embeds', 'input_embeds', 'prompt_token_ids', 'image_data'],
  output: ['return_hidden_states', 'return_prompt_text', 'stream_interval', 'response_fields'],
  searches: ['web_search_options', 'search_parameters', 'plugins'],
};

/** Members of requests that a model may get. */
const HARMLESS = `
  messages model stream temperature top_k min_p n stop seed tools text chat_template_kwargs
  tool_choice parallel_tool_calls reasoning reasoning_effort modalities response_format guided_json
  guided_regex structured_outputs grammar json_schema regex mirostat dry_multiplier typical_p
  repeat_penalty ignore_eos min_tokens bad_words include_stop_str_in_output skip_special_tokens
  spaces_between_special_tokens length_penalty add_generation_prompt continue_final_message
  add_special_tokens documents echo prediction prompt_logprobs return_token_ids
  return_tokens_as_token_ids prompt_cache_key think format truncate_prompt_tokens
  thinking_token_budget separate_reasoning repetition_detection
`
  .trim()
  .split(/\s+/);

const forms = fc.constantFrom<(name: string) => string>(
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replaceAll('_', '-'),
  (name) => name.replaceAll('_', ''),
  (name) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => `_${name}_`,
);

describe('a member that steers the model server', () => {
  it.each(Object.entries(STEERING))('is known if it chooses %s, however it is written', (_, names) => {
    fc.assert(
      fc.property(fc.constantFrom(...names), forms, (name, form) => {
        const members = new Map([
          ['temperature', '1'],
          [form(name), '"x"'],
        ]);
        dropSteering(members, { extraFields: [] });
        expect([...members]).toEqual([['temperature', '1']]);
      }),
      { numRuns: 300 },
    );
  });

  it('passes only under the name that the catalogue has', () => {
    const given = { priority: 1, Priority: 2, rid: 'a', top_k: 3 };
    expect(withoutSteering(given, { extraFields: ['priority'] })).toEqual({ priority: 1, top_k: 3 });
  });

  it.each(HARMLESS)('is not %s', (name) => {
    expect(isSteering(name)).toBe(false);
  });
});

describe('the variables of a chat template', () => {
  const passed = (text: string): string | undefined => {
    const members = new Map([['chat_template_kwargs', text]]);
    dropSteering(members, { extraFields: [] });
    return members.get('chat_template_kwargs');
  };

  it('keep their bytes, without the arguments of the function that renders the template', () => {
    expect(passed('{"enable_thinking":false,"budget":1.50}')).toBe('{"enable_thinking":false,"budget":1.50}');
    const arguments_ =
      '"chat_template":"{{ 9 ** 9 ** 9 }}","tokenize":true,"Tokenize":true,"messages":[],"conversation":[]';
    expect(passed(`{${arguments_},"thinking":true}`)).toBe('{"thinking":true}');
  });

  it.each(['"{\\"chat_template\\":\\"x\\"}"', '[1]', 'null', '7'])('are none if they are %s', (text) => {
    expect(passed(text)).toBe('{}');
  });
});
