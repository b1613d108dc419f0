import type { Fields } from '@svc/contracts/inference';
import { type ChatForm, LINE, type Utterance, fieldsIn, membersIn, partsOf } from './chat-form.js';

const detailsOf = ({ thoughts }: Utterance): Fields[] =>
  thoughts.map(({ text, signature }, index) => ({ type: 'reasoning.text', text, signature, index }));

const thoughtOf = ({ thoughts }: Utterance): string => thoughts.map(({ text }) => text).join('');

const finishOf = ({ calls }: Utterance): string => (calls.length > 0 ? 'tool_calls' : 'stop');

/** The deltas of a stream. A provider sends the reasoning as a text, and what to send back in details. */
function deltasOf(utterance: Utterance): Fields[] {
  const details = detailsOf(utterance);
  return [
    { role: 'assistant', content: '' },
    ...partsOf(thoughtOf(utterance)).map((part) => ({ reasoning_content: part })),
    ...(details.length > 0 ? [{ reasoning_details: details }] : []),
    ...partsOf(utterance.text).map((content) => ({ content })),
    ...utterance.calls.flatMap(({ id, name, input }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...partsOf(JSON.stringify(input)).map((part) => ({
        tool_calls: [{ index, function: { arguments: part } }],
      })),
    ]),
  ];
}

function linesOf(message: Fields): string[] {
  const { role, content, tool_calls: calls, tool_call_id: of, reasoning_details: details } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : fieldsIn(content);
  const texts = parts.flatMap(({ text, image_url: image }: Fields): string[] => {
    if (image) {
      const [, type, data] = /^data:([^;]*);base64,(.*)$/.exec(String(membersIn(image)['url'])) ?? [];
      return [LINE.image(type, data)];
    }
    if (text === '') return [];
    if (role === 'tool') return [LINE.result(of, text)];
    return [role === 'system' ? LINE.system(text) : LINE.text(role, text)];
  });
  return [
    ...fieldsIn(details).map(({ text, signature }) => LINE.thought(text, signature)),
    ...texts,
    ...fieldsIn(calls).map((call) => {
      const { name, arguments: input } = membersIn(call['function']);
      return LINE.call({ id: call['id'], name, input: JSON.parse(String(input)) as Fields, signature: '' });
    }),
  ];
}

/** Chat completions. Source: the types of OpenAI's SDK, and OpenRouter's for `reasoning_details`. */
export const openAiForm: ChatForm = {
  has: {
    ids: true,
    signedThoughts: true,
    signedCalls: false,
    counts: ['fresh', 'read', 'written', 'reasoning', 'output'],
  },
  usage: ({ fresh, read, written, reasoning, output }) => ({
    prompt_tokens: fresh + read + written,
    completion_tokens: reasoning + output,
    total_tokens: fresh + read + written + reasoning + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }),
  stream(utterance, usage) {
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const chunks = [
      ...deltasOf(utterance).map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: finishOf(utterance) }] },
      { choices: [], usage },
    ];
    const texts = chunks.map((chunk) => `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
    return Buffer.from(`${texts.join('')}data: [DONE]\n\n`);
  },
  whole(utterance, usage) {
    const details = detailsOf(utterance);
    const message = {
      role: 'assistant',
      content: utterance.text,
      ...(details.length > 0 && { reasoning_content: thoughtOf(utterance), reasoning_details: details }),
      ...(utterance.calls.length > 0 && {
        tool_calls: utterance.calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    };
    const choices = [{ index: 0, message, finish_reason: finishOf(utterance) }];
    return JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  },
  lines: ({ messages }) => fieldsIn(messages).flatMap(linesOf),
};

/** The same at providers that take only some members of a message. */
export const plainOpenAiForm: ChatForm = {
  ...openAiForm,
  has: { ...openAiForm.has, signedThoughts: false },
};
