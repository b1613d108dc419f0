import fc from 'fast-check';
import { RED_PNG } from './message-requests.js';

const TOOL = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: false,
};

const FORMAT = {
  name: 'trip',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  },
};

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });

/** A turn of a conversation, in both forms. */
interface Turn {
  readonly items: readonly object[];
  readonly messages: readonly object[];
}

const userTurn = text.map((content): Turn => ({
  items: [{ role: 'user', content: content }],
  messages: [{ role: 'user', content: content }],
}));

const imageTurn = fc
  .record({ caption: text, detail: fc.constantFrom('low', 'high') })
  .map(({ caption, detail }): Turn => {
    const url = `data:image/png;base64,${RED_PNG}`;
    const image = { type: 'input_image', image_url: url, detail };
    return {
      items: [{ role: 'user', content: [{ type: 'input_text', text: caption }, image] }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: caption },
            { type: 'image_url', image_url: { url, detail } },
          ],
        },
      ],
    };
  });

const output = (reply: string): object => ({
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  status: 'completed',
  content: [{ type: 'output_text', text: reply, annotations: [] }],
});

const assistantTurn = fc
  .record({ thought: fc.option(text, { nil: undefined }), reply: text, next: text })
  .map(({ thought, reply, next }): Turn => {
    const content = [{ type: 'reasoning_text', text: thought }];
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], content, encrypted_content: null };
    const user = { role: 'user', content: next };
    const message = { role: 'assistant', content: reply };
    return {
      items: [...(thought === undefined ? [] : [reasoning]), output(reply), user],
      messages: [thought === undefined ? message : { ...message, reasoning_content: thought }, user],
    };
  });

/** A text and the calls after it are one message. */
const toolTurn = fc
  .record({
    before: fc.option(text, { nil: undefined }),
    results: fc.array(text, { minLength: 1, maxLength: 2 }),
    city: text,
  })
  .map(({ before, results, city }): Turn => {
    const called = { name: TOOL.name, arguments: JSON.stringify({ city }) };
    const calls = results.map((result, index) => ({ id: `call_${index}`, result }));
    return {
      items: [
        { role: 'user', content: 'And then?' },
        ...(before === undefined ? [] : [output(before)]),
        ...calls.map(({ id }) => ({ type: 'function_call', call_id: id, ...called })),
        ...calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
      ],
      messages: [
        { role: 'user', content: 'And then?' },
        {
          role: 'assistant',
          ...(before !== undefined && { content: before }),
          tool_calls: calls.map(({ id }) => ({ id, type: 'function', function: called })),
        },
        ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
      ],
    };
  });

const lastTurn = fc
  .oneof(
    text,
    fc.constant('What is the weather in Oslo?'),
    fc.constant('Think [[sim think=7]]'),
    fc.constant('Think and sign [[sim think=7 reasoning-details=true]]'),
  )
  .map((content): Turn => ({
    items: [{ role: 'user', content: content }],
    messages: [{ role: 'user', content: content }],
  }));

const CHOICES = {
  auto: ['auto', 'auto'],
  none: ['none', 'none'],
  required: ['required', 'required'],
  named: [
    { type: 'function', name: TOOL.name },
    { type: 'function', function: { name: TOOL.name } },
  ],
} as const;

/** A request in the form of a response and of a chat completion. */
export interface ResponseRequestPair {
  readonly response: object;
  readonly chat: object;
}

export const responseRequest = fc
  .record({
    turns: fc.array(fc.oneof(userTurn, imageTurn, assistantTurn, toolTurn), { maxLength: 4 }),
    last: fc.oneof(lastTurn, imageTurn),
    instructions: fc.option(text, { nil: undefined }),
    settings: fc.record({ seed: fc.nat(), temperature: fc.constantFrom(0, 0.5) }),
    most: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    choice: fc.option(fc.constantFrom('auto', 'none', 'required', 'named'), { nil: undefined }),
    isJson: fc.boolean(),
    effort: fc.constantFrom(undefined, 'low', 'high', 'none'),
  })
  .map(({ turns, last, instructions, settings, most, choice, isJson, effort }): ResponseRequestPair => {
    const all = [...turns, last];
    const [choiceHere, choiceInChat] = choice === undefined ? [] : CHOICES[choice];
    return {
      response: {
        ...settings,
        input: all.flatMap(({ items }) => items),
        ...(instructions !== undefined && { instructions }),
        ...(most !== undefined && { max_output_tokens: most }),
        ...(choice !== undefined && { tools: [{ type: 'function', ...TOOL }], tool_choice: choiceHere }),
        ...(isJson && { text: { format: { type: 'json_schema', ...FORMAT } } }),
        ...(effort !== undefined && { reasoning: { effort } }),
      },
      chat: {
        ...settings,
        messages: [
          ...(instructions === undefined ? [] : [{ role: 'system', content: instructions }]),
          ...all.flatMap(({ messages }) => messages),
        ],
        ...(most !== undefined && { max_completion_tokens: most }),
        ...(choice !== undefined && {
          tools: [{ type: 'function', function: TOOL }],
          tool_choice: choiceInChat,
        }),
        ...(isJson && { response_format: { type: 'json_schema', json_schema: FORMAT } }),
        ...(effort !== undefined && { reasoning_effort: effort }),
      },
    };
  });
