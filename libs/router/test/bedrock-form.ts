import type { Fields } from '@svc/contracts/inference';
import { bedrockEvent } from './event-frames.js';
import { type ChatForm, LINE, type Utterance, fieldsIn, membersIn, partsOf } from './chat-form.js';

const delta = (contentBlockIndex: number, part: Fields): Buffer =>
  bedrockEvent('contentBlockDelta', { contentBlockIndex, delta: part, p: 'abc' });

/** The blocks of a response, each with the events that it is streamed in. */
function blocksOf({
  thoughts,
  text,
  calls,
}: Utterance): { block: Fields; events: (at: number) => Buffer[] }[] {
  return [
    ...thoughts.map(({ text: thought, signature }) => ({
      block: { reasoningContent: { reasoningText: { text: thought, signature } } },
      events: (at: number) => [
        ...partsOf(thought).map((part) => delta(at, { reasoningContent: { text: part } })),
        delta(at, { reasoningContent: { signature } }),
      ],
    })),
    ...(text === ''
      ? []
      : [
          { block: { text }, events: (at: number) => partsOf(text).map((part) => delta(at, { text: part })) },
        ]),
    ...calls.map(({ id, name, input }) => ({
      block: { toolUse: { toolUseId: id, name, input } },
      events: (at: number) => [
        bedrockEvent('contentBlockStart', {
          contentBlockIndex: at,
          start: { toolUse: { toolUseId: id, name } },
        }),
        ...partsOf(JSON.stringify(input)).map((part) => delta(at, { toolUse: { input: part } })),
      ],
    })),
  ];
}

const endOf = ({ calls }: Utterance): string => (calls.length > 0 ? 'tool_use' : 'end_turn');

function linesOf(role: unknown, block: Fields): string[] {
  const { text, image, toolUse, toolResult, reasoningContent } = block as Record<string, Fields | undefined>;
  if (text !== undefined) return [LINE.text(role, text)];
  if (image) return [LINE.image(`image/${String(image['format'])}`, membersIn(image['source'])['bytes'])];
  if (toolUse) {
    const { toolUseId: id, name, input } = toolUse;
    return [LINE.call({ id, name, input, signature: '' })];
  }
  if (toolResult)
    return fieldsIn(toolResult['content']).map((each) => LINE.result(toolResult['toolUseId'], each['text']));
  const thought = membersIn(reasoningContent?.['reasoningText']);
  if (reasoningContent) return [LINE.thought(thought['text'], thought['signature'])];
  return [`unknown: ${JSON.stringify(block)}`];
}

/** Bedrock's Converse. Source: the types of its SDK. */
export const bedrockForm: ChatForm = {
  has: {
    ids: true,
    signedThoughts: true,
    signedCalls: false,
    counts: ['fresh', 'read', 'written', 'writtenForHour', 'output'],
  },
  usage: ({ fresh, read, written, writtenForHour, output }) => ({
    inputTokens: fresh,
    outputTokens: output,
    totalTokens: fresh + read + written + writtenForHour + output,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written + writtenForHour,
    cacheDetails: [
      { ttl: '5m', inputTokens: written },
      { ttl: '1h', inputTokens: writtenForHour },
    ],
  }),
  stream: (utterance, usage) =>
    Buffer.concat([
      bedrockEvent('messageStart', { role: 'assistant' }),
      ...blocksOf(utterance).flatMap(({ events }, at) => [
        ...events(at),
        bedrockEvent('contentBlockStop', { contentBlockIndex: at }),
      ]),
      bedrockEvent('messageStop', { stopReason: endOf(utterance) }),
      bedrockEvent('metadata', { usage, metrics: { latencyMs: 12 } }),
    ]),
  whole(utterance, usage) {
    const content = blocksOf(utterance).map(({ block }) => block);
    const output = { message: { role: 'assistant', content } };
    return JSON.stringify({ output, stopReason: endOf(utterance), usage, metrics: { latencyMs: 12 } });
  },
  lines: ({ system, messages }) => [
    ...fieldsIn(system).map(({ text }) => LINE.system(text)),
    ...fieldsIn(messages).flatMap(({ role, content }) =>
      fieldsIn(content).flatMap((block) => linesOf(role, block)),
    ),
  ],
};
