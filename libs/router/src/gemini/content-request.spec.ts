import { describe, expect, it } from 'vitest';
import { contentRequest } from './content-request.js';

const made = (request: object, form: 'adaptive' | 'budget' = 'adaptive') =>
  contentRequest({ messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8_192, ...request }, form);

const call = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});
const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
const tools = [
  { type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } },
];

describe('a request for Gemini', () => {
  it.each([
    [{}, { maxOutputTokens: 8_192 }],
    [
      { temperature: 1.5, top_p: 0.5, top_k: 3, seed: 7, n: 2 },
      { temperature: 1.5, topP: 0.5, topK: 3, seed: 7, candidateCount: 2 },
    ],
    [{ top_k: -1, stop: 'a' }, { stopSequences: ['a'] }],
    [{ response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } } },
      { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    ],
    [{ reasoning_effort: 'xhigh' }, { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } }],
    [{ reasoning: { enabled: false } }, { thinkingConfig: { thinkingLevel: 'MINIMAL' } }],
  ])('generates as %j asks for', (request, expected) => {
    expect(made(request)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 8_192, ...expected },
    });
  });

  it.each([
    [{ reasoning_effort: 'low' }, { includeThoughts: true, thinkingBudget: 4_096 }],
    [{ reasoning: { max_tokens: 100 } }, { includeThoughts: true, thinkingBudget: 100 }],
    [{ reasoning_effort: 'none' }, { thinkingBudget: 0 }],
  ])('of a model that needs a number of tokens has the budget of %j', (request, expected) => {
    expect(made(request, 'budget')).toMatchObject({ generationConfig: { thinkingConfig: expected } });
  });

  it.each([[''], [null], [undefined]])('keeps the signature of a message with the content %j', (content) => {
    const tool_calls = [call('c1', 'look', '{}')];
    const message = { role: 'assistant', content, thought_signature: 's0' };
    const messages = [message, { role: 'user', content: 'Go on.' }, { ...message, tool_calls }];
    const sealed = { text: '', thoughtSignature: 's0' };
    expect(made({ messages })).toMatchObject({
      contents: [
        { role: 'model', parts: [sealed] },
        { role: 'user', parts: [{ text: 'Go on.' }] },
        { role: 'model', parts: [sealed, { functionCall: { name: 'look', args: {} } }] },
      ],
    });
  });

  it('has the conversation with its calls, their results and their signatures', () => {
    const messages = [
      { role: 'system', content: 'A' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        thought_signature: 's0',
        tool_calls: [{ ...call('c1', 'look', '{"x":1}'), ...signed('s1') }, call('c2', 'now', '')],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
      { role: 'user', content: 'And?' },
    ];
    expect(
      made({ messages, tools, tool_choice: { type: 'function', function: { name: 'look' } } }),
    ).toMatchObject({
      systemInstruction: { parts: [{ text: 'A' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
        {
          role: 'model',
          parts: [
            { text: 'I look.', thoughtSignature: 's0' },
            { functionCall: { name: 'look', args: { x: 1 } }, thoughtSignature: 's1' },
            { functionCall: { name: 'now', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'look', response: { output: 'one' } } },
            { functionResponse: { name: 'now', response: { output: 'two' } } },
            { text: 'And?' },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'look', description: 'Looks', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
    });
  });

  it('has files and audio within it', () => {
    const content = [
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
    ];
    expect(made({ messages: [{ role: 'user', content }] })['contents']).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
          { inlineData: { mimeType: 'audio/mpeg', data: 'AA==' } },
        ],
      },
    ]);
  });

  it.each([
    ['tools', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    [
      'messages',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }],
      },
    ],
  ])('is refused with the name of the field for what the API has no place for: %s', (param, request) => {
    expect(() => made(request)).toThrow(
      expect.objectContaining({ status: 400, body: expect.stringContaining(`"param":"${param}"`) as string }),
    );
  });
});
