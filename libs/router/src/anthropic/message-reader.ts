import { readChoiceEnd } from '@svc/contracts/messages';
import {
  type Fields,
  type Piece,
  type PieceEnd,
  type ReportedUsage,
  fieldsOf,
  isFields,
  unusable,
} from '@svc/contracts/inference';
import { backendError, parseBackendJson, textIn } from '../chat/backend-json.js';
import { PLAIN_PIECE, type PieceReader } from '../chat/piece-reader.js';
import { count } from '../chat/usage-reading.js';

/** The most blocks in one response. */
const BLOCKS_LIMIT = 1_024;

/** A block of a streamed message so far. */
interface OpenBlock {
  /** The number of the call, if it is one. */
  readonly call: number | undefined;
  /** Whether a part of its input has been sent. */
  hasInput: boolean;
  /** The parts of its reasoning, which its signature belongs to. */
  readonly thoughts: string[];
}

const CONTINUES = { ...PLAIN_PIECE, index: 0, end: null };

/** Reads the responses of Anthropic's Messages API, whole or streamed, as pieces. */
export class MessageReader implements PieceReader {
  readonly repetitions = undefined;
  readonly withPromptLogprobs = undefined;
  readonly promptTokenIds = undefined;
  readonly citedUrls: readonly string[] = [];
  received = 0;
  reported: ReportedUsage | undefined;
  stoppedBy: string | undefined;
  unknownFinish: string | undefined;
  isFinished = false;
  /** Counts come in several events, the later ones in place of the earlier. */
  private counts: Fields = {};
  private readonly blocks = new Map<unknown, OpenBlock>();
  private callCount = 0;
  private thoughtCount = 0;

  /** @param isOriginal Whether its client gets the events as they are. */
  constructor(readonly isOriginal = false) {}

  read(text: string): readonly Piece[] {
    this.received += text.length;
    const pieces = this.take(parseBackendJson(text));
    if (!this.isOriginal) return pieces;
    const [first = { ...CONTINUES, delta: {} }, ...others] = pieces;
    return [{ ...first, original: text }, ...others];
  }

  protected take(event: Fields): readonly Piece[] {
    switch (event['type']) {
      case 'message_start': {
        const { message } = event;
        this.count(isFields(message) ? message['usage'] : undefined);
        return [{ ...CONTINUES, delta: { role: 'assistant' } }];
      }
      case 'content_block_start':
        return this.begun(event);
      case 'content_block_delta':
        return this.continued(event);
      case 'content_block_stop':
        return this.ended(event['index']);
      case 'message_delta':
        this.count(event['usage']);
        return this.finished(isFields(event['delta']) ? event['delta'] : {});
      case 'message':
        this.count(event['usage']);
        return [this.whole(event)];
      case 'error':
        throw backendError(event['error']);
      default:
        return [];
    }
  }

  private begun({ index, content_block: block }: Fields): readonly Piece[] {
    if (!isFields(block)) return [];
    if (this.blocks.size === BLOCKS_LIMIT) throw unusable('the backend sends too many blocks');
    const isCall = block['type'] === 'tool_use';
    const open: OpenBlock = { call: isCall ? this.callCount++ : undefined, hasInput: false, thoughts: [] };
    this.blocks.set(index, open);
    switch (block['type']) {
      case 'tool_use': {
        const { id, name } = block;
        const call = { index: open.call, id, type: 'function', function: { name, arguments: '' } };
        return piece({ tool_calls: [call] });
      }
      case 'text':
        return textIn(block['text']) === '' ? [] : piece({ content: block['text'] });
      case 'thinking':
        return textIn(block['thinking']) === '' ? [] : this.thought(open, textIn(block['thinking']));
      case 'redacted_thinking':
        return piece({
          reasoning_details: [this.detail({ type: 'reasoning.encrypted', data: block['data'] })],
        });
      default:
        return [];
    }
  }

  private continued({ index, delta }: Fields): readonly Piece[] {
    const open = this.blocks.get(index);
    if (!open || !isFields(delta)) return [];
    switch (delta['type']) {
      case 'text_delta':
        return piece({ content: textIn(delta['text']) });
      case 'thinking_delta':
        return this.thought(open, textIn(delta['thinking']));
      case 'signature_delta':
        return piece({ reasoning_details: [this.signed(open.thoughts.join(''), delta['signature'])] });
      case 'input_json_delta': {
        const json = textIn(delta['partial_json']);
        if (json === '') return [];
        // The input of a call that the provider itself has made is output like any other.
        if (open.call === undefined) return this.isOriginal ? piece({ provider_input: json }) : [];
        open.hasInput = true;
        return piece({ tool_calls: [{ index: open.call, function: { arguments: json } }] });
      }
      default:
        return [];
    }
  }

  /** A call without arguments has no part of them: clients need an object. */
  private ended(index: unknown): readonly Piece[] {
    const open = this.blocks.get(index);
    if (open?.call === undefined || open.hasInput) return [];
    return piece({ tool_calls: [{ index: open.call, function: { arguments: '{}' } }] });
  }

  private finished(delta: Fields): readonly Piece[] {
    if (typeof delta['stop_sequence'] === 'string') this.stoppedBy = delta['stop_sequence'];
    const end = this.endOf(delta['stop_reason']);
    this.isFinished ||= end !== null;
    return [{ ...CONTINUES, delta: {}, end }];
  }

  private whole({ content, stop_reason: reason, stop_sequence: sequence }: Fields): Piece {
    const blocks = fieldsOf(content);
    const texts = (type: string, member: string): string =>
      blocks.flatMap((block) => (block['type'] === type ? [textIn(block[member])] : [])).join('');
    const details = blocks.flatMap((block) => this.detailOf(block));
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    const thoughts = texts('thinking', 'thinking');
    const delta = {
      role: 'assistant',
      content: texts('text', 'text'),
      ...(thoughts !== '' && { reasoning_content: thoughts }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, input }, index) => ({
          index,
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input ?? {}) },
        })),
      }),
    };
    if (typeof sequence === 'string') this.stoppedBy = sequence;
    this.isFinished = true;
    return { ...CONTINUES, delta, end: this.endOf(reason) ?? 'stop', isWhole: true };
  }

  private detailOf(block: Fields): Fields[] {
    if (block['type'] === 'redacted_thinking')
      return [this.detail({ type: 'reasoning.encrypted', data: block['data'] })];
    if (block['type'] !== 'thinking' || textIn(block['signature']) === '') return [];
    return [this.signed(textIn(block['thinking']), block['signature'])];
  }

  private thought({ thoughts }: OpenBlock, text: string): readonly Piece[] {
    if (text === '') return [];
    thoughts.push(text);
    return piece({ reasoning_content: text });
  }

  private signed(text: string, signature: unknown): Fields {
    return this.detail({ type: 'reasoning.text', text, signature });
  }

  private detail(members: Fields): Fields {
    return { ...members, format: 'anthropic-claude-v1', index: this.thoughtCount++ };
  }

  private endOf(value: unknown): PieceEnd | null {
    const read = readChoiceEnd(value);
    if (read.end === 'not yet') return null;
    if (read.end === 'unknown') this.unknownFinish ??= read.name;
    return read.end === 'unknown' || read.end === 'failure' ? 'stop' : read.end;
  }

  /** Input tokens are counted without those that were read from the cache or written to it. */
  private count(usage: unknown): void {
    if (!isFields(usage)) return;
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.counts[name] = value;
    const { counts } = this;
    const details = counts['output_tokens_details'];
    const cachedTokens = count(counts['cache_read_input_tokens']);
    const cacheWriteTokens = count(counts['cache_creation_input_tokens']);
    const lifetimes = counts['cache_creation'];
    const forHour = isFields(lifetimes) ? count(lifetimes['ephemeral_1h_input_tokens']) : 0;
    this.reported = {
      promptTokens: count(counts['input_tokens']) + cachedTokens + cacheWriteTokens,
      completionTokens: count(counts['output_tokens']),
      cachedTokens,
      cacheWriteTokens,
      ...(forHour > 0 && { hourCacheWriteTokens: forHour }),
      reasoningTokens: isFields(details) ? count(details['thinking_tokens']) : 0,
    };
  }
}

const piece = (delta: Fields): readonly Piece[] => [{ ...CONTINUES, delta }];
