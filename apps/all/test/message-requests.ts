import fc from 'fast-check';

export const TOOL = {
  description: 'Looks something up',
  schema: { type: 'object', properties: { q: { type: 'string' } } },
};

/** A red square of 64 by 64 pixels, in Base64. */
export const RED_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAb0lEQVR4nO3PAQkAAAyEwO9feoshgnABdLep8QUNyPEFDcjxBQ3I' +
  '8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3IPanc' +
  '8OLDQitxAAAAAElFTkSuQmCC';

const FORMAT = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};

const text = fc
  .string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
  .filter((each) => each.trim() !== '');

/** A turn of a conversation, in both forms. */
type Turn = { readonly message: object[]; readonly chat: object[] };

const userTurn = text.map((content): Turn => ({
  message: [{ role: 'user', content: content }],
  chat: [{ role: 'user', content: content }],
}));

const partsTurn = fc.array(text, { minLength: 2, maxLength: 4 }).map((parts): Turn => {
  const content = parts.map((part) => ({ type: 'text', text: part }));
  return { message: [{ role: 'user', content }], chat: [{ role: 'user', content }] };
});

const imageTurn = text.map((caption): Turn => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: RED_PNG } };
  const inChat = { type: 'image_url', image_url: { url: `data:image/png;base64,${RED_PNG}` } };
  const after = { type: 'text', text: caption };
  return {
    message: [{ role: 'user', content: [image, after] }],
    chat: [{ role: 'user', content: [inChat, after] }],
  };
});

const toolTurn = fc
  .record({ before: text, query: fc.jsonValue(), result: text, failed: fc.boolean(), after: text })
  .map(({ before, query, result, failed, after }): Turn => ({
    message: [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: before },
          { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: query } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: result, is_error: failed },
          { type: 'text', text: after },
        ],
      },
    ],
    chat: [
      {
        role: 'assistant',
        content: before,
        tool_calls: [
          {
            id: 'toolu_1',
            type: 'function',
            function: { name: 'lookup', arguments: JSON.stringify({ q: query }) },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: failed ? `Error: ${result}` : result },
      { role: 'user', content: after },
    ],
  }));

const thoughtTurn = fc
  .record({ thinking: text, reply: text, next: text })
  .map(({ thinking, reply, next }): Turn => ({
    message: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking, signature: '' },
          { type: 'text', text: reply },
        ],
      },
      { role: 'user', content: next },
    ],
    chat: [
      { role: 'assistant', content: reply, reasoning_content: thinking },
      { role: 'user', content: next },
    ],
  }));

/** A request in the form of a message and of a chat completion. */
export const messageRequest = fc
  .record({
    first: fc.oneof(userTurn, partsTurn, imageTurn),
    turns: fc.array(fc.oneof(userTurn, partsTurn, imageTurn, toolTurn, thoughtTurn), { maxLength: 4 }),
    system: fc.option(text, { nil: undefined }),
    tools: fc.boolean(),
    choice: fc.constantFrom('auto', 'any', 'none', 'tool'),
    maxTokens: fc.integer({ min: 1, max: 60 }),
    temperature: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
    stops: fc.array(fc.constantFrom('the', 'and', ' of'), { maxLength: 2 }),
    model: fc.constantFrom('plain', 'reasoner'),
    thinking: fc.constantFrom(undefined, 'low', 'medium', 'high'),
    isJson: fc.boolean(),
  })
  .map((request) => {
    const { first, turns, system, tools, choice, maxTokens, temperature, stops, model, thinking } = request;
    const all = [first, ...turns];
    const isShown = thinking !== undefined;
    const common = {
      model,
      max_tokens: maxTokens,
      ...(temperature !== undefined && { temperature: temperature / 10 }),
    };
    const budgets = { low: 2_000, medium: 10_000, high: 40_000 };
    return {
      isShown,
      message: {
        ...common,
        messages: all.flatMap((turn) => turn.message),
        ...(system !== undefined && { system }),
        ...(stops.length > 0 && { stop_sequences: stops }),
        ...(tools && {
          tools: [{ name: 'lookup', description: TOOL.description, input_schema: TOOL.schema }],
          tool_choice: choice === 'tool' ? { type: choice, name: 'lookup' } : { type: choice },
        }),
        ...(request.isJson && { output_config: { format: { type: 'json_schema', schema: FORMAT } } }),
        ...(isShown && { thinking: { type: 'enabled', budget_tokens: budgets[thinking] } }),
      },
      chat: {
        ...common,
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: system }]),
          ...all.flatMap((turn) => turn.chat),
        ],
        ...(stops.length > 0 && { stop: stops }),
        ...(tools && {
          tools: [
            {
              type: 'function',
              function: { name: 'lookup', description: TOOL.description, parameters: TOOL.schema },
            },
          ],
          tool_choice: {
            auto: 'auto',
            any: 'required',
            none: 'none',
            tool: { type: 'function', function: { name: 'lookup' } },
          }[choice],
        }),
        ...(request.isJson && {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'output', strict: true, schema: FORMAT },
          },
        }),
        ...(isShown && model === 'reasoner' && { reasoning_effort: thinking }),
        svc_parameters: { strip_thinking_response: !isShown },
      },
    };
  });
