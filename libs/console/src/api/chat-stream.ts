import { createParser } from 'eventsource-parser';
import { CallError, errorTexts } from './call-error.js';
import { send } from './client.js';
import type { CallInput, EventAt } from './routes.js';

const PATH = '/api/v1/chat/completions';

export type ChatBody = NonNullable<CallInput<'POST', typeof PATH>['body']>;
export type ChatChunk = EventAt<'POST', typeof PATH>;

/** The data of an event, or the error that an event reports. */
function chunkOf(data: string): ChatChunk {
  const value = JSON.parse(data) as ChatChunk & { readonly error?: unknown };
  if (value.error === undefined) return value;
  const { message, code } = errorTexts(value);
  throw new CallError(message ?? 'The completion was interrupted.', { status: 200, code });
}

/** Streams a completion, chunk by chunk. */
export async function* streamChat(body: ChatBody, signal: AbortSignal): AsyncGenerator<ChatChunk> {
  const response = await send('POST', PATH, { body: { ...body, stream: true }, signal });
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  const text = response.body?.pipeThrough(new TextDecoderStream());
  for await (const piece of text ?? []) {
    parser.feed(piece);
    for (const data of events.splice(0)) {
      if (data === '[DONE]') return;
      yield chunkOf(data);
    }
  }
}
