import type { Fields } from '@svc/contracts/inference';
import { type ChatForm, LINE, type Utterance, fieldsIn, membersIn, partsOf } from './chat-form.js';

type Block = Fields & { readonly type: string };

const blocksOf = ({ thoughts, text, calls }: Utterance): Block[] => [
  ...thoughts.map((each) => ({ type: 'thinking', thinking: each.text, signature: each.signature })),
  ...(text === '' ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
];

/** A block as it begins, and what is added to it. */
function eventsOf(block: Block, index: number): Fields[] {
  const { type, text, thinking, signature, input, ...others } = block;
  const deltas = {
    text: () => partsOf(String(text)).map((part) => ({ type: 'text_delta', text: part })),
    thinking: () => [
      ...partsOf(String(thinking)).map((part) => ({ type: 'thinking_delta', thinking: part })),
      { type: 'signature_delta', signature },
    ],
    tool_use: () =>
      partsOf(JSON.stringify(input)).map((part) => ({ type: 'input_json_delta', partial_json: part })),
  }[type];
  const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' }, tool_use: { input: {} } }[
    type
  ];
  return [
    { type: 'content_block_start', index, content_block: { type, ...others, ...empty } },
    ...(deltas?.() ?? []).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
const endOf = ({ calls }: Utterance): string => (calls.length > 0 ? 'tool_use' : 'end_turn');

function lineOf(role: unknown, block: Fields): string[] {
  const source = membersIn(block['source']);
  switch (block['type']) {
    case 'text':
      return [LINE.text(role, block['text'])];
    case 'image':
      return [LINE.image(source['media_type'], source['data'])];
    case 'thinking':
      return [LINE.thought(block['thinking'], block['signature'])];
    case 'tool_use':
      return [LINE.call({ id: block['id'], name: block['name'], input: block['input'], signature: '' })];
    case 'tool_result':
      return fieldsIn(block['content']).map(({ text }) => LINE.result(block['tool_use_id'], text));
    default:
      return [`unknown: ${JSON.stringify(block)}`];
  }
}

/** Anthropic's Messages API. Source: the types of its SDK. */
export const anthropicForm: ChatForm = {
  has: {
    ids: true,
    signedThoughts: true,
    signedCalls: false,
    counts: ['fresh', 'read', 'written', 'writtenForHour', 'reasoning', 'output'],
  },
  usage: ({ fresh, read, written, writtenForHour, reasoning, output }) => ({
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written + writtenForHour,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenForHour },
    output_tokens: reasoning + output,
    output_tokens_details: { thinking_tokens: reasoning },
  }),
  stream(utterance, usage) {
    const { output_tokens: output, output_tokens_details: details, ...begun } = usage;
    const message = { ...HEAD, content: [], stop_reason: null, stop_sequence: null };
    const end = { stop_reason: endOf(utterance), stop_sequence: null };
    const events: Fields[] = [
      { type: 'message_start', message: { ...message, usage: { ...begun, output_tokens: 1 } } },
      { type: 'ping' },
      ...blocksOf(utterance).flatMap(eventsOf),
      {
        type: 'message_delta',
        delta: end,
        usage: { output_tokens: output, output_tokens_details: details },
      },
      { type: 'message_stop' },
    ];
    const texts = events.map(
      (event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
    );
    return Buffer.from(texts.join(''));
  },
  whole: (utterance, usage) =>
    JSON.stringify({
      ...HEAD,
      content: blocksOf(utterance),
      stop_reason: endOf(utterance),
      stop_sequence: null,
      usage,
    }),
  lines: ({ system, messages }) => [
    ...fieldsIn(system).map(({ text }) => LINE.system(text)),
    ...fieldsIn(messages).flatMap(({ role, content }) =>
      fieldsIn(content).flatMap((block) => lineOf(role, block)),
    ),
  ],
};
