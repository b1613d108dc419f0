import { readChoiceEnd } from '@svc/contracts/messages';
import {
  type Fields,
  type Piece,
  type PieceEnd,
  type ReportedUsage,
  unusable,
} from '@svc/contracts/inference';
import type { PieceReader } from '../src/chat/piece-reader.js';
import type { Dialect } from '../src/dialect/dialect.js';

/** A block of a message, or what an event adds to one. */
interface Block {
  readonly type?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: object;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
}

interface Event {
  readonly type?: string;
  readonly index?: number;
  readonly message?: { readonly usage?: Fields };
  readonly content?: readonly Block[];
  readonly content_block?: Block;
  readonly delta?: Block & { readonly stop_reason?: string; readonly stop_sequence?: string | null };
  readonly stop_reason?: string;
  readonly usage?: Fields;
}

const CONTINUES = { index: 0, logprobs: undefined, end: null, stopReason: undefined, tokenIds: undefined };

/**
 * A dialect that has nothing of OpenAI's: blocks that begin and end, calls with an input, counts without the
 * tokens that were read from the cache, and an end without `[DONE]`.
 */
class EventReader implements PieceReader {
  readonly repetitions = undefined;
  readonly withPromptLogprobs = undefined;
  readonly promptTokenIds = undefined;
  readonly unknownFinish = undefined;
  readonly citedUrls: readonly string[] = [];
  received = 0;
  reported: ReportedUsage | undefined;
  stoppedBy: string | undefined;
  isFinished = false;
  private counts: Fields = {};
  /** The index of each call, by that of its block. */
  private readonly calls = new Map<number | undefined, number>();

  read(text: string): readonly Piece[] {
    this.received += text.length;
    const event = JSON.parse(text) as Event;
    const { type, index, content_block: begun, delta } = event;
    switch (type) {
      case 'message_start':
        this.count(event.message?.usage);
        return [{ ...CONTINUES, delta: { role: 'assistant' }, isWhole: false, parts: undefined }];
      case 'content_block_start':
        return begun?.type === 'tool_use' ? [this.begunCall(begun, index)] : [];
      case 'content_block_delta':
        return [this.pieceOf(delta ?? {}, index)];
      case 'message_delta':
        this.count(event.usage);
        return [this.ended(delta?.stop_reason, delta?.stop_sequence)];
      case 'message':
        this.count(event.usage);
        return [this.whole(event)];
      case 'error':
        throw unusable('the backend reported an error');
      case undefined:
      default:
        return [];
    }
  }

  private begunCall({ id, name }: Block, block: number | undefined): Piece {
    const index = this.calls.size;
    this.calls.set(block, index);
    const call = { index, id, type: 'function', function: { name, arguments: '' } };
    return { ...CONTINUES, delta: { tool_calls: [call] }, isWhole: false, parts: undefined };
  }

  private pieceOf(delta: Block, block: number | undefined): Piece {
    return { ...CONTINUES, delta: this.membersOf(delta, block), isWhole: false, parts: undefined };
  }

  private membersOf({ text, thinking, signature, partial_json: json }: Block, block?: number): Fields {
    if (text !== undefined) return { content: text };
    if (thinking !== undefined) return { reasoning_content: thinking };
    if (signature !== undefined)
      return { reasoning_details: [{ type: 'reasoning.text', signature, index: 0 }] };
    return { tool_calls: [{ index: this.calls.get(block), function: { arguments: json } }] };
  }

  private ended(reason: string | undefined, sequence: string | null | undefined): Piece {
    this.isFinished = true;
    this.stoppedBy = sequence ?? undefined;
    return { ...CONTINUES, delta: {}, end: endOf(reason), isWhole: false, parts: undefined };
  }

  private whole({ content = [], stop_reason: reason }: Event): Piece {
    const texts = (type: 'text' | 'thinking'): string => content.map((block) => block[type] ?? '').join('');
    const signed = content.filter(({ signature }) => signature !== undefined);
    const calls = content.filter(({ type }) => type === 'tool_use');
    const delta = {
      content: texts('text'),
      reasoning_content: texts('thinking'),
      ...(signed.length > 0 && {
        reasoning_details: signed.map(({ signature }) => ({ type: 'reasoning.text', signature, index: 0 })),
      }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }, index) => ({
          index,
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    };
    this.isFinished = true;
    return { ...CONTINUES, delta, end: endOf(reason), isWhole: true, parts: undefined };
  }

  /** Counts are without cached tokens, and may come in several events. */
  private count(usage: Fields = {}): void {
    this.counts = { ...this.counts, ...usage };
    const of = (name: string): number => Number(this.counts[name] ?? 0);
    const [cachedTokens, cacheWriteTokens] = [of('cache_read'), of('cache_written')];
    this.reported = {
      promptTokens: of('input') + cachedTokens + cacheWriteTokens,
      completionTokens: of('output'),
      cachedTokens,
      cacheWriteTokens,
      reasoningTokens: 0,
    };
  }
}

function endOf(reason: string | undefined): PieceEnd | null {
  const { end } = readChoiceEnd(reason);
  return end === 'length' || end === 'content_filter' ? end : end === 'not yet' ? null : 'stop';
}

/** The events that only say that a response is being made. */
const SAYS_NOTHING = new Set<unknown>(['message_start', 'ping', 'content_block_start']);

const typeOf = (json: string): unknown => (JSON.parse(json) as Event).type;

export const eventDialect: Dialect = {
  headers: ({ key }) => ({ 'content-type': 'application/json', ...(key !== undefined && { 'x-key': key }) }),
  chat: {
    reader: () => new EventReader(),
    request(own, body, isStream) {
      const { messages, max_tokens: limit } = JSON.parse(Buffer.concat(body).toString()) as Fields;
      const request = { ...own, turns: messages, limit, events: isStream };
      return { path: '/talk', body: [Buffer.from(JSON.stringify(request))] };
    },
    checkCompletion(body) {
      if (typeOf(body) !== 'message') throw new Error('the response is no message');
    },
    failureIn: (data) => (typeOf(data) === 'error' ? 529 : undefined),
    begins: (data) => !SAYS_NOTHING.has(typeOf(data)),
  },
};
