const END_USER =
  'The end user whose request it is, for usage and limits by user; only a hash of it is stored.';

/** The members that name the models to fall back to. */
const FALLBACKS = {
  models:
    'The models to try, in this order, when no server can take the request for `model`, or its servers respond with 429 or 5xx before the completion begins. The model that responded is named in the response, and its price is charged. Replaces the defaults of the key and the account; an empty list means none.',
  fallbacks: 'The same as `models`, in another form. Send one of the two.',
  fallback_on:
    'What else makes a request go on to the next model: a prompt beyond the context of the model, or a content filter.',
};

const SERVICE_TIER =
  'The tier of service, which determines the price and who waits for whom: `flex` or `priority`, if the model has it; otherwise, and for any other value, the default tier. The tier that was used is in the response. `GET /models` shows the tiers of a model and their prices.';

/** Descriptions of fields by schema, for the published description. */
export const FIELD_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ChatCompletionRequest: {
    model: 'The id of a model, a trait or an alias; `svc_parameters` may follow it as a suffix.',
    messages: 'The conversation so far.',
    stream: 'Stream the completion while it is generated. Recommended for long completions.',
    stream_options:
      'Only with `stream`. Usage is always sent: with `include_usage` in a separate last chunk without choices, otherwise in the chunk that finishes the last choice.',
    temperature: 'Higher values make the completion more varied.',
    top_p: 'Sample from the most likely tokens whose probabilities add up to this value.',
    top_k: 'Sample from this number of the most likely tokens; -1 means all tokens.',
    min_p: 'Exclude tokens whose probability is below this fraction of that of the most likely token.',
    min_temp: 'The lowest temperature of dynamic temperature scaling.',
    max_temp: 'The highest temperature of dynamic temperature scaling.',
    frequency_penalty: 'Positive values penalise tokens by the number of times they have occurred.',
    presence_penalty: 'Positive values penalise tokens that have occurred.',
    repetition_penalty: 'Values above 1 penalise repetition; 1 has no effect.',
    logit_bias: 'Makes tokens more or less likely, by token id.',
    n: 'The number of choices to generate. All of them are charged.',
    seed: 'Repeating a seed makes the same completion more likely. A signed 64-bit integer.',
    stop: 'Texts that end the completion.',
    stop_token_ids: 'Tokens that end the completion.',
    max_completion_tokens: 'The maximum number of tokens to generate, including reasoning.',
    max_tokens: 'Deprecated in favour of `max_completion_tokens`. Zero or less is ignored.',
    logprobs: 'Return the log probability of each token. Not supported by every model.',
    top_logprobs: 'The number of most likely tokens to return at each position.',
    response_format:
      'Text, any JSON, or JSON of a given schema. `json_schema` has the schema in its field `json_schema`, `json_object` in its field `schema`; backends differ in which of the two they support.',
    tools: 'The tools that the model may call. Functions in the formats of other APIs are converted.',
    tool_choice: '`auto`, `none`, `required`, a tool that must be called, or the tools that may be called.',
    parallel_tool_calls: 'Whether the model may call several functions at once.',
    functions: 'Not supported; use `tools`.',
    input: 'Not supported; use `messages`.',
    max_output_tokens: 'Not supported; use `max_completion_tokens`.',
    web_search: 'Not supported; use `svc_parameters.enable_web_search`.',
    promptCacheKey: 'Not supported; use `prompt_cache_key`.',
    anon_user_id: 'Accepted but not used.',
    function_call: 'Not supported; use `tool_choice`.',
    reasoning: 'Options for reasoning models.',
    reasoning_effort: 'Takes precedence over `reasoning.effort`.',
    verbosity: 'How detailed the completion is.',
    text: 'An alternative place for `verbosity`.',
    modalities: 'Output is text only.',
    audio: 'Not supported; output is text only.',
    prompt_cache_key:
      'Requests with the same key prefer the same backend, where their prompts may be cached. Without a key or a session, the beginning of the conversation counts.',
    session_id:
      'Like `prompt_cache_key`, which takes precedence. The headers `x-session-id` and `x-session-affinity` mean the same.',
    prompt_cache_retention: 'How long the prompt should stay cached.',
    user: END_USER,
    store: 'Accepted but not used: completions are not stored.',
    include: 'Accepted but not used.',
    metadata: 'Accepted but not used.',
    ...FALLBACKS,
    service_tier: SERVICE_TIER,
    svc_parameters: 'Options of this service.',
  },
  CreateResponseRequest: {
    model: 'The id of a model, a trait or an alias; `svc_parameters` may follow it as a suffix.',
    input: 'A text, or the items of the conversation so far.',
    instructions: 'A system prompt, before the items.',
    stream: 'Stream the response while it is generated. Recommended for long responses.',
    stream_options: 'Accepted but not used.',
    tools:
      'The tools that the model may call. A `custom` tool is offered to the model as a function with one text. `web_search` is the web search of this service: the same as `svc_parameters.enable_web_search` with `auto`, or with `on` if `tool_choice` demands it. Its text cites the pages. `x_search` is the search by the provider of the model.',
    tool_choice: '`auto`, `none`, `required`, a tool that must be called, or the tools that may be called.',
    max_tool_calls: 'Accepted but not used: there is at most one search.',
    text: 'The format of the text (`text`, `json_object`, or `json_schema` with a schema), and how detailed it is.',
    reasoning:
      'The effort, and whether to show reasoning as a summary. Without `summary` it is in the `content` of the item.',
    max_output_tokens: 'The maximum number of tokens to generate, including reasoning.',
    top_logprobs: 'Return the log probability of each token, and of this number of the most likely ones.',
    include:
      '`message.output_text.logprobs` has an effect. `encrypted_content` is always sent if the backend signs its reasoning.',
    truncation: 'Only `disabled`.',
    store: 'Accepted but not used: responses are not stored, and `store` in a response is false.',
    previous_response_id: 'Not supported; send the earlier items as `input`.',
    conversation: 'Not supported; send the earlier items as `input`.',
    background: 'Not supported; use `stream` for long responses.',
    web_search:
      '`true` searches the web, as the tool `web_search` does when it is demanded; `false` does not.',
    ...FALLBACKS,
    prompt: 'Not supported; use `instructions` and `input`.',
    service_tier: SERVICE_TIER,
    safety_identifier: `${END_USER} It takes precedence over \`user\`.`,
    user: END_USER,
    metadata: 'Returned with the response; not used otherwise.',
    svc_parameters: 'Options of this service.',
  },
  CreateCompletionRequest: {
    model: 'The id of a model, a trait or an alias; `svc_parameters` may follow it as a suffix.',
    prompt: 'The text to respond to, or a list that contains only this text.',
    echo: 'Repeat the prompt before each choice.',
    suffix: 'Not supported, unless empty.',
    best_of: 'Only the same value as `n`.',
    n: 'The number of choices to generate. All of them are charged.',
    logprobs:
      'Return the log probability of each token, and of this number of the most likely ones. Not with `echo`.',
    max_tokens: 'The maximum number of tokens to generate, including reasoning. Default: 16.',
    user: END_USER,
    metadata: 'Accepted but not used.',
    ...FALLBACKS,
    service_tier: SERVICE_TIER,
    svc_parameters: 'Options of this service.',
  },
  CreateMessageRequest: {
    model: 'The id of any model, a trait or an alias; `svc_parameters` may follow it as a suffix.',
    system: 'The system prompt. Marks for caches on its blocks, and on those of messages, are passed on.',
    tools: "The client's own tools, and `web_search`. All others are refused.",
    tool_choice: '`any` demands a call. Naming the web search tool demands a search.',
    thinking:
      "Returns the model's reasoning. A budget becomes the nearest effort that the model offers; a model that cannot reason ignores it.",
    output_config: 'The effort of reasoning, and a JSON Schema for the text.',
    output_format: 'The same as `output_config.format`.',
    cache_control: 'Accepted but not used, unlike the marks on blocks.',
    max_tokens: 'The maximum number of tokens to generate, including reasoning.',
    metadata:
      '`user_id` is the end user whose request it is, for usage and limits by user; only a hash of it is stored.',
    service_tier:
      'Accepted but not used: both values mean the standard tier, which `usage.service_tier` names.',
    ...FALLBACKS,
    context_management: 'Accepted but not used: the whole conversation is sent to the model.',
    speed: 'Only `standard`.',
    mcp_servers: 'Only an empty list.',
    svc_parameters: 'Options of this service.',
  },
  SvcParameters: {
    character_slug: 'The public id of a character.',
    strip_thinking_response: 'Remove `<think>` blocks from the completion.',
    disable_thinking: 'Turn reasoning off if the model supports that, and remove `<think>` blocks.',
    enable_e2ee:
      '`false` ignores the headers `X-SVC-TEE-*`, by which a request is encrypted. The echo is `true` only for an encrypted request.',
    enable_web_search:
      '`on` searches the web for the topic of the conversation and gives the results to the model. Each search is charged; a failed search costs nothing. `auto` lets the model decide: it may request one search, and you are charged for the tokens of both of its calls. If the model does not support tools, or `tool_choice`, `response_format` or `n` prevents it from requesting a search, `auto` searches if the last message is short, contains no code, and mentions the present or last year or later, or asks to look something up.',
    enable_web_scraping:
      'Read up to 5 pages linked in the last user message, instead of searching. Each page that is read is charged.',
    enable_web_citations:
      'With a web search: cite the sources as `[REF]0[/REF]`, by their index in `web_search_citations`.',
    enable_x_search:
      "Let the model's provider search the web and posts, instead of this service. Each use is charged. Rejected for models that do not support it.",
    include_search_results_in_stream: 'Send the search results as the first event of a stream.',
    return_search_results_as_documents:
      'Also send the search results as a tool call named `svc_web_search_documents`.',
    include_venice_system_prompt: "Put the service's own system prompts before those of the request.",
    include_svc_system_prompt: 'Alias of `include_venice_system_prompt`.',
  },
  ChatCompletion: {
    id: 'The id of the request, the same as in the header `x-request-id`.',
    created: 'Unix seconds.',
    model: 'The id of the model that generated the completion.',
    choices: '`n` choices.',
    cost: 'The charge for the request.',
    svc_parameters: 'The options in effect.',
  },
  ChatCompletionChunk: {
    id: 'The id of the request, the same in every event.',
    created: 'Unix seconds, the same in every event.',
    choices: 'Empty in events without text.',
    usage: 'In the last event only.',
    cost: 'In the last event only: the charge for the request.',
  },
  Cost: {
    usd: 'US dollars, with at most nine decimals.',
    diem: 'DIEM, with at most nine decimals. One DIEM is worth one dollar.',
  },
  Usage: {
    completion_tokens: 'Including reasoning.',
  },
};
