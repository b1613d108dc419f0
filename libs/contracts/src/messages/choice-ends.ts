/**
 * How a choice of a model server ended. After a failure its output is not complete, and nobody knows what is
 * missing.
 */
type ChoiceEnd = 'stop' | 'length' | 'content_filter' | 'failure';

/** What a server calls the end of a choice; not yet, if the choice continues. */
type ReadChoiceEnd =
  { readonly end: ChoiceEnd | 'not yet' } | { readonly end: 'unknown'; readonly name: string };

/**
 * The names of finish reasons: those of OpenAI's interface first, then those of the interfaces of Anthropic,
 * Gemini, Cohere, Mistral, Bedrock, xAI, DeepSeek, Zhipu, Hunyuan, watsonx and OpenRouter, and of vLLM,
 * SGLang, TGI, TensorRT-LLM, llama.cpp, Ollama and LM Studio. They are looked up in lower case, and without
 * anything but letters and digits.
 */
const NAMES: Readonly<Record<ChoiceEnd | 'not yet', string>> = {
  stop: `
    stop tool_calls function_call tool_call function_calls tool_use tools end_turn stop_sequence
    pause_turn compaction complete completed finish finished end done stop_criteria_met stop_words eos
    eos_token eos_found end_id end_of_text stop_token stop_string stop_string_found word load unload
  `,
  length: `
    length max_tokens max_output_tokens max_new_tokens max_completion_tokens max_length max_len
    maximum_tokens model_length token_limit limit max_predicted_tokens_reached
    model_context_window_exceeded context_window_exceeded context_length_exceeded
    context_length_reached context_length max_context max_context_length error_limit repetition
    repetition_detected
  `,
  content_filter: `
    content_filter content_filtered refusal guardrail_intervened guardrails sensitive safety recitation
    language blocklist prohibited_content spii model_armor image_safety image_prohibited_content
    image_recitation error_toxic toxic flagged moderation content_policy content_policy_violation
    blocked
  `,
  failure: `
    error errored failed failure internal_error server_error network_error abort aborted cancel
    canceled cancelled user_cancel user_stopped interrupted timeout timed_out time_limit
    deadline_exceeded preempted evicted model_unloaded insufficient_system_resource
    insufficient_system_resources out_of_memory oom overloaded malformed_function_call
    malformed_tool_use malformed_model_output malformed_response unexpected_tool_call
    too_many_tool_calls missing_thought_signature
  `,
  'not yet': `
    null none not_finished unspecified
  `,
};

/** Longer names are unknown. */
const NAME_CHARACTERS = 64;

/**
 * A name without what only some interfaces put around it, as in `FINISH_REASON_STOP` and `FinishReason.STOP`.
 */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/^(?:(?:finish|stop)?reason)+/, '');

const LISTED = Object.entries(NAMES).flatMap(([end, names]) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => ({ name, read: { end: end as ChoiceEnd | 'not yet' } })),
);

/** The names as they are written above, which are those of most servers. */
const AS_LISTED: ReadonlyMap<string, ReadChoiceEnd> = new Map(LISTED.map(({ name, read }) => [name, read]));

const PLAIN: ReadonlyMap<string, ReadChoiceEnd> = new Map(
  LISTED.map(({ name, read }) => [plain(name), read]),
);

const NOT_YET: ReadChoiceEnd = { end: 'not yet' };

/** How a choice ended, by the `finish_reason` that its server sent. */
export function readChoiceEnd(reason: unknown): ReadChoiceEnd {
  if (reason === undefined || reason === null || reason === '') return NOT_YET;
  // SGLang's own interface has an object with a type.
  const name: unknown = typeof reason === 'object' && 'type' in reason ? reason.type : reason;
  if (typeof name !== 'string') return { end: 'unknown', name: typeof name };
  const known = AS_LISTED.get(name) ?? (name.length > NAME_CHARACTERS ? undefined : PLAIN.get(plain(name)));
  return known ?? { end: 'unknown', name: name.slice(0, NAME_CHARACTERS) };
}

/** Whether a choice has failed: its server says so, or puts an error into it. */
export function hasFailed(choice: { readonly finish_reason?: unknown; readonly error?: unknown }): boolean {
  return isError(choice.error) || readChoiceEnd(choice.finish_reason).end === 'failure';
}

/** Deeper values are something. */
const LEVELS = 4;

/**
 * Whether the `error` of a response is one. Some servers send every response with an error without content,
 * such as `{"message": "", "code": null}`.
 */
export function isError(value: unknown, levels = LEVELS): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return levels === 0 || Object.values(value).some((member) => isError(member, levels - 1));
}
