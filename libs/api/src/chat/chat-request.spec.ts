import { describe, expect, it } from 'vitest';
import { Problem, errorBody, validate } from '@svc/contracts/problems';
import { ChatRequest } from './chat-request.js';

const hi = { role: 'user', content: 'hi' };
const decent = { model: 'm', messages: [hi] };
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const fn = { type: 'function', function: { name: 'f' } };

/** The request with these members replaced. */
const withFields = (fields: object): object => ({ ...decent, ...fields });
/** A request with one message. */
const message = (fields: object): object => ({ model: 'm', messages: [{ ...hi, ...fields }] });
/** A request with a second content part. */
const part = (value: unknown): object => message({ content: [{ type: 'text', text: 'a' }, value] });
const tool = (value: unknown): object => withFields({ tools: [fn, value] });
const choice = (value: unknown): object => withFields({ tools: [fn], tool_choice: value });
const assistant = (fields: object): object =>
  withFields({ messages: [hi, { role: 'assistant', content: null, ...fields }] });

/** An invalid request, the path of its first issue, and words of the message. */
const wrong: readonly (readonly [request: unknown, path: string, ...words: string[]])[] = [
  [null, '', 'must be an object'],
  [[], '', 'must be an object'],
  [{}, 'model', 'model is required'],
  [{ messages: [hi] }, 'model', 'model is required'],
  [withFields({ model: 7 }), 'model', 'must be a string'],
  [withFields({ model: '' }), 'model', 'must not be empty'],
  [withFields({ model: 'x'.repeat(257) }), 'model', '256 characters'],
  [{ model: 'm' }, 'messages', 'is required', 'a list'],
  [withFields({ messages: [] }), 'messages', 'must not be empty'],
  [withFields({ messages: 'hi' }), 'messages', 'must be a list', 'not a string'],
  [withFields({ messages: ['hi'] }), 'messages.0', 'must be an object', 'not a string'],
  [withFields({ messages: [{}] }), 'messages.0.role', '"user"', '"assistant"'],
  [withFields({ messages: [hi, { role: 'bot', content: 'x' }] }), 'messages.1.role', '"developer"'],
  [withFields({ messages: [{ role: 'user' }] }), 'messages.0.content', 'a string or a list'],
  [message({ content: 5 }), 'messages.0.content', 'a string or a list', 'not a number'],
  [message({ content: null }), 'messages.0.content', 'a string or a list', 'not null'],
  [message({ content: [] }), 'messages.0.content', 'must not be empty'],
  [message({ name: 5 }), 'messages.0.name', 'must be a string'],
  [message({ name: 'n'.repeat(65) }), 'messages.0.name', '64 characters'],
  [part('a'), 'messages.0.content.1', 'must be an object'],
  [part({}), 'messages.0.content.1.type', '"image_url"'],
  [part({ type: 'picture' }), 'messages.0.content.1.type', '"text"', '"input_audio"'],
  [part({ type: 'text' }), 'messages.0.content.1.text', 'is required', 'string'],
  [part({ type: 'text', text: '' }), 'messages.0.content.1.text', 'must not be empty'],
  [part({ type: 'image_url' }), 'messages.0.content.1.image_url', 'is required', 'object'],
  [part({ type: 'image_url', image_url: 'http://a.example' }), 'messages.0.content.1.image_url', 'object'],
  [part({ type: 'image_url', image_url: {} }), 'messages.0.content.1.image_url.url', 'is required'],
  [part({ type: 'image_url', image_url: { url: 'nope' } }), 'messages.0.content.1.image_url.url', 'data URL'],
  [
    part({ type: 'image_url', image_url: { url: `https://a.example/${'a'.repeat(9_000)}` } }),
    'messages.0.content.1.image_url.url',
    '8192 characters',
  ],
  [part({ type: 'input_audio', input_audio: {} }), 'messages.0.content.1.input_audio.data', 'is required'],
  [
    part({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'midi' } }),
    'messages.0.content.1.input_audio.format',
    '"wav"',
  ],
  [part({ type: 'video_url', video_url: { url: 3 } }), 'messages.0.content.1.video_url.url', 'string'],
  [part({ type: 'file', file: { filename: 'a' } }), 'messages.0.content.1.file.file_data', 'is required'],
  [
    part({ type: 'text', text: 'a', cache_control: { type: 'forever' } }),
    'messages.0.content.1.cache_control.type',
    'ephemeral',
  ],
  [assistant({ content: [{ type: 'image_url' }] }), 'messages.1.content.0.type', '"text"'],
  [
    assistant({ tool_calls: [{ ...call, function: {} }] }),
    'messages.1.tool_calls.0.function.name',
    'is required',
  ],
  [
    assistant({ tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] }),
    'messages.1.tool_calls.0.function.arguments',
    'must be a string',
  ],
  [assistant({ tool_calls: [{ ...call, type: 'x' }] }), 'messages.1.tool_calls.0.type', '"function"'],
  [withFields({ messages: [{ role: 'tool', content: 'x' }] }), 'messages.0.tool_call_id', 'is required'],
  [
    withFields({ messages: [{ role: 'tool', tool_call_id: 'c', content: { a: 1 } }] }),
    'messages.0.content',
    'a string or a list',
  ],
  [withFields({ messages: [{ role: 'system', content: 3 }] }), 'messages.0.content', 'a string or a list'],
  [withFields({ stream: 'yes' }), 'stream', 'true or false'],
  [
    withFields({ stream: true, stream_options: { include_usage: 1 } }),
    'stream_options.include_usage',
    'true or false',
  ],
  [withFields({ stream_options: { include_usage: true } }), 'stream_options', 'when stream is true'],
  [withFields({ temperature: 3 }), 'temperature', 'must be at most 2'],
  [withFields({ temperature: '1' }), 'temperature', 'must be a number, not a string'],
  [withFields({ top_p: 1.5 }), 'top_p', 'must be at most 1'],
  [withFields({ top_k: -2 }), 'top_k', 'at least -1'],
  [withFields({ frequency_penalty: -3 }), 'frequency_penalty', 'at least -2'],
  [withFields({ repetition_penalty: -1 }), 'repetition_penalty', 'must be at least 0'],
  [withFields({ logit_bias: { a: 1 } }), 'logit_bias.a', 'name'],
  [withFields({ logit_bias: { 1: 101 } }), 'logit_bias.1', 'at most 100'],
  [withFields({ logit_bias: [] }), 'logit_bias', 'must be an object'],
  [withFields({ n: 0 }), 'n', 'must be at least 1'],
  [withFields({ n: 1.5 }), 'n', 'must be an integer'],
  [withFields({ seed: 1.5 }), 'seed', 'integer from -2^63'],
  [withFields({ seed: 1e30 }), 'seed', 'integer from -2^63'],
  [withFields({ seed: 2 ** 64 }), 'seed', 'integer from -2^63'],
  [withFields({ stop: 5 }), 'stop', 'a string or a list'],
  [withFields({ stop: ['a', 5] }), 'stop.1', 'must be a string'],
  [withFields({ stop: ['a', 'b', 'c', 'd', 'e'] }), 'stop', 'must have at most 4 items'],
  [withFields({ max_tokens: 'many' }), 'max_tokens', 'must be a number'],
  [withFields({ logprobs: 5 }), 'logprobs', 'true or false'],
  [withFields({ response_format: 'json' }), 'response_format', 'must be an object'],
  [withFields({ response_format: { type: 'json_object', schema: 'x' } }), 'response_format.schema', 'object'],
  [withFields({ response_format: { type: 'yaml' } }), 'response_format.type', '"json_object"'],
  [withFields({ response_format: { type: 'json_schema' } }), 'response_format.json_schema', 'is required'],
  [withFields({ tools: fn }), 'tools', 'must be a list'],
  [tool(5), 'tools.1', 'must be an object'],
  [tool({ type: 'functions' }), 'tools.1.type', '"function"', '"custom"', '"web_search"'],
  [tool({ type: 'function' }), 'tools.1.function', 'is required'],
  [tool({ type: 'function', function: {} }), 'tools.1.function.name', 'is required'],
  [tool({ type: 'function', function: { name: '' } }), 'tools.1.function.name', 'must not be empty'],
  [tool({ type: 'function', function: { name: 5 } }), 'tools.1.function.name', 'must be a string'],
  [
    tool({ type: 'function', function: { name: 'f', parameters: 'none' } }),
    'tools.1.function.parameters',
    'must be an object',
  ],
  [
    tool({ type: 'function', function: { name: 'f', description: 5 } }),
    'tools.1.function.description',
    'must be a string',
  ],
  [tool({ type: 'custom', custom: { format: null } }), 'tools.1.custom.name', 'is required'],
  [tool({ name: 'f', input_schema: 5 }), 'tools.1.input_schema', 'must be an object'],
  [choice('bogus'), 'tool_choice', '"auto"', '"none"', '"required"'],
  [choice(5), 'tool_choice', 'must be'],
  [choice({ type: 'sometimes' }), 'tool_choice.type', '"function"', '"allowed_tools"'],
  [choice({ type: 'function', function: {} }), 'tool_choice.function.name', 'is required'],
  [
    choice({ type: 'allowed_tools', allowed_tools: { mode: 'none', tools: [fn] } }),
    'tool_choice.allowed_tools.mode',
    '"auto"',
  ],
  [withFields({ tool_choice: 'required' }), 'tool_choice', 'only allowed with tools'],
  [withFields({ parallel_tool_calls: 'yes' }), 'parallel_tool_calls', 'true or false'],
  [withFields({ functions: [{ name: 'f' }] }), 'functions', 'use tools'],
  [withFields({ function_call: 'auto' }), 'function_call', 'use tool_choice'],
  [withFields({ modalities: ['text', 'audio'] }), 'modalities.1', 'text only'],
  [withFields({ audio: { voice: 'a', format: 'wav' } }), 'audio', 'text only'],
  [withFields({ store: 'yes' }), 'store', 'true or false'],
  [withFields({ reasoning: { effort: 'huge' } }), 'reasoning.effort', '"high"'],
  [withFields({ reasoning_effort: 1 }), 'reasoning_effort', '"low"'],
  [withFields({ verbosity: 'loud' }), 'verbosity', '"medium"'],
  [withFields({ prompt_cache_retention: 'forever' }), 'prompt_cache_retention', '"in_memory"'],
  [withFields({ user: 'u'.repeat(513) }), 'user', 'at most 512 characters'],
  [withFields({ metadata: { a: 1 } }), 'metadata.a', 'must be a string'],
  [withFields({ fallbacks: [{}] }), 'fallbacks.0.model', 'is required'],
  [withFields({ svc_parameters: { enable_web_search: true } }), 'svc_parameters.enable_web_search', '"auto"'],
];

function refusal(request: unknown): Problem {
  try {
    validate(ChatRequest, request);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('an invalid request', () => {
  it.each(wrong.map(([request, path, ...words]) => [path, words, request] as const))(
    'is rejected with the path and the expected value: %s, %j',
    (path, words, request) => {
      const problem = refusal(request);
      expect([problem.issues?.[0]?.path.join('.'), problem.param ?? '']).toEqual([path, path]);
      expect(problem.message).toContain(path === '' ? 'The request' : path);
      for (const word of words) expect(problem.message).toContain(word);
      expect(Object.keys(errorBody(problem))).toEqual(['error', 'code', 'details', 'issues']);
    },
  );
});

describe('a request that real clients send', () => {
  it.each([
    { seed: 0 },
    { seed: -1 },
    { seed: 2 ** 63 },
    { seed: -(2 ** 63) },
    { top_k: -1 },
    { prompt_cache_retention: 'in_memory' },
    { store: false },
    { store: true },
    { response_format: { type: 'structural_tag', structures: [], triggers: [] } },
    { response_format: { type: 'structural_tag', format: { type: 'any_text' } } },
    { stop: null, tools: null, tool_choice: null, functions: null, audio: null, stream_options: null },
    { stream: true, stream_options: { include_usage: null } },
    { tool_choice: 'auto' },
    { tool_choice: 'none' },
    { modalities: ['text'] },
    {
      tools: [
        { type: 'function', function: { name: 'f', description: null, parameters: null, strict: null } },
      ],
    },
    {
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      tool_choice: { type: 'function', name: 'f' },
    },
    { tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' } }] },
    { tools: [{ type: 'custom', name: 'f', input_schema: { type: 'object' } }] },
    {
      tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'text' } } }],
      tool_choice: { type: 'custom', custom: { name: 'f' } },
    },
    { tools: [fn], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [fn] } } },
    { messages: [hi, { role: 'assistant', content: '', tool_calls: null, refusal: null }] },
    {
      messages: [
        hi,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: '' },
      ],
    },
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { file_data: 'x', filename: null }, cache_control: null }],
        },
      ],
    },
    {
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: null } }] },
      ],
    },
    { svc_parameters: { character_slug: null, enable_web_search: null } },
  ])('is accepted: %j', (fields) => {
    expect(() => validate(ChatRequest, withFields(fields))).not.toThrow();
  });

  it.each(['text/plain', 'image/png'])('is accepted with a data URL of megabytes (%s)', (type) => {
    const url = `data:${type};base64,${'A'.repeat(20_000_000)}`;
    expect(() => validate(ChatRequest, part({ type: 'image_url', image_url: { url } }))).not.toThrow();
  });
});
