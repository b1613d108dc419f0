import { Readable } from 'node:stream';
import type { Backend } from '@svc/contracts/catalog';
import type { ChatResponse, Fields, Piece, ReportedUsage } from '@svc/contracts/inference';
import { ReadResponse } from '../src/chat/read-chats.js';
import { DIALECTS, chatReaderOf } from '../src/dialects/dialects.js';
import { type ChatForm, type TrueCounts, fieldsIn, membersIn } from './chat-form.js';

const READING = { isEncrypted: false, isOriginal: false };

/** A message in the form of chat completions, as a client puts the pieces of a response together. */
function messageOf(pieces: readonly Piece[]): Fields {
  const texts: Record<string, string> = {};
  const details: Fields[] = [];
  const calls: { id: unknown; type: unknown; function: { name: string; arguments: string } }[] = [];
  for (const { delta } of pieces) {
    for (const name of ['content', 'reasoning_content'])
      if (typeof delta[name] === 'string') texts[name] = (texts[name] ?? '') + delta[name];
    details.push(...fieldsIn(delta['reasoning_details']));
    for (const { index, function: called, ...others } of fieldsIn(delta['tool_calls'])) {
      const { name = '', arguments: part = '' } = membersIn(called);
      const call = (calls[Number(index)] ??= {
        id: others['id'],
        type: 'function',
        ...others,
        function: { name: '', arguments: '' },
      });
      call.function.name += String(name);
      call.function.arguments += String(part);
    }
  }
  return {
    role: 'assistant',
    content: '',
    ...texts,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

async function piecesOf(response: ChatResponse): Promise<Piece[]> {
  const pieces: Piece[] = [];
  const arrivals = response.arrivals({ idleTimeoutMs: 60_000, onRepetition: undefined });
  for await (const events of Symbol.asyncIterator in arrivals ? arrivals : [arrivals])
    for (const each of events) pieces.push(...response.read(each));
  return pieces;
}

/** A response of a backend, as it is read of its bytes. */
export interface ReadMessage {
  readonly message: Fields;
  readonly ends: readonly unknown[];
  readonly usage: ReportedUsage | undefined;
}

/** Without a kind, a response is one with OpenAI's API. */
async function readAs(
  kind: string,
  source: { readonly body: string } | { readonly bytes: Readable },
): Promise<ReadMessage> {
  const own = DIALECTS[kind as Backend['kind']].chat?.reader ? kind : undefined;
  const response = new ReadResponse({ backend: 'b', retries: 0, ...source }, chatReaderOf(own, READING));
  const pieces = await piecesOf(response);
  return {
    message: messageOf(pieces),
    ends: pieces.flatMap(({ end }) => end ?? []),
    usage: response.facts.reported,
  };
}

/** Reads a whole response. */
export const readWhole = (kind: string, body: string): Promise<ReadMessage> => readAs(kind, { body });

/** Reads a stream whose bytes arrive in these parts. */
export function readStream(kind: string, parts: readonly Buffer[]): Promise<ReadMessage> {
  const events = DIALECTS[kind as Backend['kind']].chat?.events?.();
  const arrived = parts.map((part) => events?.read([part]) ?? [part]).filter((each) => each.length > 0);
  return readAs(kind, { bytes: Readable.from(arrived) });
}

/** The calls of a message, with their arguments as a value. */
export const callsIn = (message: Fields) =>
  fieldsIn(message['tool_calls']).map(({ id, function: called }) => {
    const { name, arguments: input } = membersIn(called);
    return { id, name, input: JSON.parse(String(input)) as unknown };
  });

/** The usage of these counts as it is priced: cached tokens are in the prompt, reasoning is in the output. */
export function pricedUsage({
  fresh,
  read,
  written,
  writtenForHour,
  reasoning,
  output,
}: TrueCounts): ReportedUsage {
  return {
    promptTokens: fresh + read + written + writtenForHour,
    completionTokens: reasoning + output,
    cachedTokens: read,
    cacheWriteTokens: written + writtenForHour,
    ...(writtenForHour > 0 && { hourCacheWriteTokens: writtenForHour }),
    reasoningTokens: reasoning,
  };
}

/** The counts that a form has a place for; others are 0. */
export function countsFor({ has }: ChatForm, counts: TrueCounts): TrueCounts {
  const places = new Set<string>(has.counts);
  const missing = Object.keys(counts).filter((name) => !places.has(name));
  return { ...counts, ...Object.fromEntries(missing.map((name) => [name, 0])) };
}
