import type { Fields } from '@svc/contracts/inference';
import {
  type ChatForm,
  LINE,
  type Utterance,
  type UtteredCall,
  fieldsIn,
  membersIn,
  partsOf,
} from './chat-form.js';

const callPart = ({ name, input, signature }: UtteredCall): Fields => ({
  functionCall: { name, args: input },
  thoughtSignature: signature,
});

const responseOf = (parts: readonly Fields[], finishReason?: string, usageMetadata?: Fields): Fields => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: usageMetadata ?? { promptTokenCount: 1 },
  modelVersion: 'm',
  responseId: 'r',
});

const partsIn = ({ thoughts, text, calls }: Utterance, cut: (text: string) => string[]): Fields[] => [
  ...thoughts.flatMap((each) => cut(each.text).map((part) => ({ text: part, thought: true }))),
  ...(text === '' ? [] : cut(text).map((part) => ({ text: part }))),
  ...calls.map(callPart),
];

function linesOf(role: unknown, part: Fields): string[] {
  const { text, inlineData, functionCall, functionResponse } = part as Record<string, Fields | undefined>;
  if (text !== undefined) return [LINE.text(role === 'model' ? 'assistant' : role, text)];
  if (inlineData) return [LINE.image(inlineData['mimeType'], inlineData['data'])];
  if (functionCall) {
    const { name, args: input } = functionCall;
    return [LINE.call({ id: '', name, input, signature: part['thoughtSignature'] })];
  }
  if (functionResponse)
    return [LINE.result(functionResponse['name'], membersIn(functionResponse['response'])['output'])];
  return [`unknown: ${JSON.stringify(part)}`];
}

/** The Gemini API. Source: the types of its SDK. */
export const geminiForm: ChatForm = {
  has: {
    ids: false,
    signedThoughts: false,
    signedCalls: true,
    counts: ['fresh', 'read', 'reasoning', 'output'],
  },
  usage: ({ fresh, read, reasoning, output }) => ({
    promptTokenCount: fresh + read,
    cachedContentTokenCount: read,
    candidatesTokenCount: output,
    thoughtsTokenCount: reasoning,
    totalTokenCount: fresh + read + reasoning + output,
  }),
  stream(utterance, usage) {
    const events = [
      ...partsIn(utterance, partsOf).map((part) => responseOf([part])),
      responseOf([{ text: '' }], 'STOP', usage),
    ];
    return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''));
  },
  whole: (utterance, usage) =>
    JSON.stringify(
      responseOf(
        partsIn(utterance, (text) => [text]),
        'STOP',
        usage,
      ),
    ),
  lines: ({ systemInstruction: system, contents }) => [
    ...fieldsIn(membersIn(system)['parts']).map(({ text }) => LINE.system(text)),
    ...fieldsIn(contents).flatMap(({ role, parts }) =>
      fieldsIn(parts).flatMap((part) => linesOf(role, part)),
    ),
  ],
};
