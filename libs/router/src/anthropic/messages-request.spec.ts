import { describe, expect, it } from 'vitest';
import { messagesRequest } from './messages-request.js';

const made = (request: object, form: 'adaptive' | 'budget' = 'adaptive') =>
  messagesRequest(
    { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8_192, ...request },
    { model: 'm', form, isStream: false },
  );

const call = (id: string, text: string) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: text },
});
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

describe('a request for Anthropic', () => {
  it.each([
    [{}, { max_tokens: 8_192, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    [{ max_tokens: undefined, max_completion_tokens: 5 }, { max_tokens: 5 }],
    [{ max_tokens: null }, { max_tokens: 4_096 }],
    [
      { temperature: 1.7, top_p: 0.5, top_k: 3 },
      { temperature: 1, top_k: 3 },
    ],
    [{ top_p: 0.5, top_k: -1 }, { top_p: 0.5 }],
    [{ stop: ['a', ' ', 'b'] }, { stop_sequences: ['a', 'b'] }],
    [{ stop: 'a' }, { stop_sequences: ['a'] }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
    [{ response_format: { type: 'json_object' } }, { system: [{ type: 'text', text: /JSON/ }] }],
  ])('has what %j asks for', (request, expected) => {
    const written = JSON.parse(JSON.stringify(expected)) as object;
    expect(made(request)).toMatchObject('system' in expected ? { system: [{ type: 'text' }] } : written);
  });

  it('has the texts of system and developer messages before the conversation', () => {
    const messages = [
      { role: 'system', content: 'A' },
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: [{ type: 'text', text: 'B', cache_control: { type: 'ephemeral' } }] },
    ];
    expect(made({ messages })).toMatchObject({
      system: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
      ],
      messages: [{ role: 'user' }],
    });
  });

  it('has all results of a turn in the user message after its calls', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('a.1', '{"x":1}'), call('b', '')] },
      { role: 'tool', tool_call_id: 'a.1', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: 'And?' },
    ];
    expect(made({ messages })['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a_1', name: 'look', input: { x: 1 } },
          { type: 'tool_use', id: 'b', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a_1', content: [{ type: 'text', text: 'one' }] },
          { type: 'tool_result', tool_use_id: 'b' },
          { type: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('keeps arguments that are no object, since a model wrote them', () => {
    const messages = [{ role: 'assistant', content: '', tool_calls: [call('a', '{"x":')] }];
    expect(made({ messages })['messages']).toMatchObject([{ content: [{ input: { arguments: '{"x":' } }] }]);
  });

  it('reads the arguments of all calls together within the bounds of a request', () => {
    const text = `{"x":[${'1,'.repeat(29_999)}1]}`;
    const messages = [{ role: 'assistant', content: '', tool_calls: [call('a', text), call('b', text)] }];
    const [turn] = made({ messages })['messages'] as [{ content: { input: object }[] }];
    expect(turn.content.map(({ input }) => Object.keys(input))).toEqual([['x'], ['arguments']]);
  });

  it('has images and documents as blocks', () => {
    const content = [
      { type: 'image_url', image_url: { url: PNG } },
      { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'data:text/plain;base64,SGk=' } },
    ];
    expect(made({ messages: [{ role: 'user', content }] })['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
          { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'a.pdf',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } },
        ],
      },
    ]);
  });

  it.each([
    ['n', { n: 2 }],
    ['tools', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'x' } }] }] }],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: [{ type: 'file', file: { file_data: 'data:a/b;base64,AA==' } }] },
        ],
      },
    ],
  ])('is refused with the name of the field for what the API has no place for: %s', (param, request) => {
    expect(() => made(request)).toThrow(
      expect.objectContaining({ status: 400, body: expect.stringContaining(`"param":"${param}"`) as string }),
    );
  });

  const tools = [{ type: 'function', function: { name: 'look', parameters: { properties: { x: {} } } } }];

  it.each([
    [undefined, undefined, undefined],
    ['auto', undefined, { type: 'auto' }],
    ['none', false, { type: 'none' }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [{ type: 'function', function: { name: 'look' } }, undefined, { type: 'tool', name: 'look' }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
  ])('has the choice of tools %j, in parallel %s', (choice, isParallel, expected) => {
    const request = made({ tools, tool_choice: choice, parallel_tool_calls: isParallel });
    expect(request['tools']).toEqual([
      { name: 'look', input_schema: { type: 'object', properties: { x: {} } } },
    ]);
    expect(request['tool_choice']).toEqual(expected);
  });
});

describe('the reasoning of a request for Anthropic', () => {
  it.each([
    [{ reasoning_effort: 'minimal' }, 'adaptive', { type: 'adaptive', display: 'summarized' }],
    [{ reasoning: { effort: 'high' } }, 'budget', { type: 'enabled', budget_tokens: 4_096 }],
    [{ reasoning: { max_tokens: 2_000 } }, 'budget', { type: 'enabled', budget_tokens: 2_000 }],
    [{ reasoning_effort: 'high', max_tokens: 2_000 }, 'budget', undefined],
    [{ reasoning: { enabled: false } }, 'adaptive', { type: 'disabled' }],
    [{ reasoning_effort: 'none' }, 'adaptive', { type: 'disabled' }],
    [{ thinking: { type: 'between_tools' } }, 'adaptive', { type: 'between_tools' }],
  ] as const)('for %j of a model that is asked by %s', (request, form, thinking) => {
    expect(made({ ...request, temperature: 0.5 }, form)['thinking']).toEqual(thinking);
  });

  it('is sent with its effort and without what the provider refuses beside it', () => {
    const request = made({ reasoning_effort: 'xhigh', temperature: 0.5, top_k: 3 });
    expect(request).toMatchObject({ output_config: { effort: 'xhigh' } });
    expect(Object.keys(request)).not.toEqual(expect.arrayContaining(['temperature', 'top_k']));
  });

  const SIGNED = { type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 };
  const HIDDEN = { type: 'reasoning.encrypted', data: 'd', index: 1 };
  const turn = (details?: object[]) => [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Ok', reasoning_details: details, tool_calls: [call('a', '{}')] },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
  ];

  it('goes on with the blocks that the provider signed, in their order', () => {
    const request = made({ messages: turn([SIGNED, HIDDEN]), reasoning_effort: 'low' });
    expect(request['messages']).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'text', text: 'Ok' },
          { type: 'tool_use' },
        ],
      },
      {},
    ]);
    expect(request['thinking']).toBeDefined();
  });

  it('does not begin in the middle of a turn whose reasoning is not known, nor before a call that must come', () => {
    expect(made({ messages: turn(), reasoning_effort: 'low' })['thinking']).toBeUndefined();
    const forced = made({ reasoning_effort: 'low', tools, tool_choice: 'required', temperature: 0.5 });
    expect([forced['thinking'], forced['temperature']]).toEqual([undefined, 0.5]);
  });

  const tools = [{ type: 'function', function: { name: 'look' } }];
});
