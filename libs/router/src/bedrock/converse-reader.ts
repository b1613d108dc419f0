import { type Fields, type Piece, fieldsOf, isFields } from '@svc/contracts/inference';
import { MessageReader } from '../anthropic/message-reader.js';
import { backendError, textIn } from '../chat/backend-json.js';

/** The usage: cached tokens are beside the input, as Anthropic counts them. */
function usageOf(usage: unknown): Fields {
  if (!isFields(usage)) return {};
  const forHour = fieldsOf(usage['cacheDetails']).find(({ ttl }) => ttl === '1h');
  return {
    usage: {
      input_tokens: usage['inputTokens'],
      output_tokens: usage['outputTokens'],
      cache_read_input_tokens: usage['cacheReadInputTokens'],
      cache_creation_input_tokens: usage['cacheWriteInputTokens'],
      cache_creation: forHour && { ephemeral_1h_input_tokens: forHour['inputTokens'] },
    },
  };
}

function reasoningBlock(reasoning: Fields): Fields {
  const { redactedContent: data, reasoningText: text } = reasoning;
  if (data !== undefined) return { type: 'redacted_thinking', data };
  const { text: thinking, signature } = isFields(text) ? text : {};
  return { type: 'thinking', thinking: textIn(thinking), signature };
}

/** A block of a whole response in Anthropic's form. */
function blockOf({ text, toolUse, reasoningContent }: Fields): Fields[] {
  if (isFields(toolUse)) {
    const { toolUseId: id, name, input } = toolUse;
    return [{ type: 'tool_use', id, name, input }];
  }
  if (isFields(reasoningContent)) return [reasoningBlock(reasoningContent)];
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

/** What a part of a block adds, and the block that it belongs to, in Anthropic's form. */
interface PartOfBlock {
  readonly block: Fields;
  readonly delta?: Fields;
}

function partOf({ text, toolUse, reasoningContent: reasoning }: Fields): PartOfBlock | undefined {
  if (typeof text === 'string') return { block: { type: 'text' }, delta: { type: 'text_delta', text } };
  if (isFields(toolUse)) {
    const delta = { type: 'input_json_delta', partial_json: toolUse['input'] };
    return { block: { type: 'tool_use' }, delta };
  }
  if (!isFields(reasoning)) return undefined;
  const { text: thinking, signature, redactedContent: data } = reasoning;
  if (data !== undefined) return { block: { type: 'redacted_thinking', data } };
  const block = { type: 'thinking' };
  if (typeof signature === 'string') return { block, delta: { type: 'signature_delta', signature } };
  return { block, delta: { type: 'thinking_delta', thinking } };
}

/** Reads the responses of Bedrock's Converse, whole or streamed, as Anthropic's with the same parts. */
export class ConverseReader extends MessageReader {
  /** The numbers of the blocks that have begun. The beginning of most is not sent. */
  private readonly begunBlocks = new Set<unknown>();

  protected override take(body: Fields): readonly Piece[] {
    if (isFields(body['error'])) throw backendError(body['error']);
    const [name = '', value] = Object.entries(body)[0] ?? [];
    if (isFields(body['output'])) return this.wholeOf(body);
    return isFields(value) ? this.event(name, value) : [];
  }

  private event(name: string, event: Fields): readonly Piece[] {
    const { contentBlockIndex: index } = event;
    switch (name) {
      case 'messageStart':
        return super.take({ type: 'message_start' });
      case 'contentBlockStart': {
        const { toolUse } = isFields(event['start']) ? event['start'] : {};
        return isFields(toolUse) ? this.block(index, blockOf({ toolUse })[0] ?? {}) : [];
      }
      case 'contentBlockDelta': {
        const part = partOf(isFields(event['delta']) ? event['delta'] : {});
        if (!part) return [];
        const start = this.block(index, part.block);
        const { delta } = part;
        return delta ? [...start, ...super.take({ type: 'content_block_delta', index, delta })] : start;
      }
      case 'contentBlockStop':
        return super.take({ type: 'content_block_stop', index });
      case 'messageStop':
        return super.take({ type: 'message_delta', delta: { stop_reason: event['stopReason'] } });
      case 'metadata':
        return super.take({ type: 'message_delta', ...usageOf(event['usage']) });
      default:
        return [];
    }
  }

  private block(index: unknown, block: Fields): readonly Piece[] {
    if (this.begunBlocks.has(index)) return [];
    this.begunBlocks.add(index);
    return super.take({ type: 'content_block_start', index, content_block: block });
  }

  private wholeOf({ output, stopReason, usage }: Fields): readonly Piece[] {
    const { message } = isFields(output) ? output : {};
    const content = isFields(message) ? fieldsOf(message['content']).flatMap(blockOf) : [];
    return super.take({ type: 'message', content, stop_reason: stopReason, ...usageOf(usage) });
  }
}
