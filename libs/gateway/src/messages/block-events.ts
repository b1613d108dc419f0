import { type Fields, isFields, unusable } from '../json/backend-json.js';
import { toolUse } from './message-head.js';

/** A block that has begun. */
interface OpenBlock {
  readonly type: 'text' | 'thinking' | 'tool_use';
  /** The index of its call. */
  readonly call?: number;
}

/** A call of a tool that has no name yet. */
interface NamelessCall {
  readonly index: number;
  readonly id: unknown;
  text: string;
}

/** An event of a stream, whose name is the type of its data. */
export function namedFrame(data: Fields): string {
  return `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Writes the content of a message as the events of its blocks. One block is open at a time, and their indexes
 * are in order, as clients expect.
 */
export class BlockEvents {
  private frames = '';
  private index = -1;
  private open: OpenBlock | undefined;
  private nameless: NamelessCall | undefined;
  /** The highest index of a call so far. */
  private lastCall = -1;

  /** @param sealed What a model needs to resume the reasoning so far, if anything. */
  constructor(private readonly sealed: () => string | undefined) {}

  /** The events since the last call. */
  take(): string {
    const { frames } = this;
    this.frames = '';
    return frames;
  }

  text(text: string): void {
    if (text === '') return;
    if (this.open?.type !== 'text') this.begin({ type: 'text' }, { type: 'text', text: '', citations: null });
    this.delta('text_delta', 'text', text);
  }

  thinking(thinking: string): void {
    if (thinking === '') return;
    if (this.open?.type !== 'thinking')
      this.begin({ type: 'thinking' }, { type: 'thinking', thinking: '', signature: '' });
    this.delta('thinking_delta', 'thinking', thinking);
  }

  /** A fragment of a call. The first one of each call has its id. Refuses: INFERENCE_FAILED. */
  call(fragment: Fields): void {
    const index = Number(fragment['index']);
    const called = isFields(fragment['function']) ? fragment['function'] : {};
    const text = typeof called['arguments'] === 'string' ? called['arguments'] : '';
    if (index > this.lastCall) {
      this.close();
      this.lastCall = index;
      this.nameless = { index, id: fragment['id'], text: '' };
    }
    const { nameless } = this;
    if (nameless?.index === index) {
      nameless.text += text;
      if (typeof called['name'] === 'string') this.beginCall(nameless, called['name']);
    } else if (this.open?.call === index) this.argumentsText(text);
    // A block that has ended cannot be continued.
    else if (text !== '') throw unusable('the backend continues an earlier tool call');
  }

  /** A block that is complete from the start. */
  whole(block: Fields): void {
    this.close();
    this.index += 1;
    this.frames += namedFrame({ type: 'content_block_start', index: this.index, content_block: block });
    this.stop();
  }

  /** Ends the open block, if any. */
  close(): void {
    if (this.nameless) this.beginCall(this.nameless, '');
    const { open } = this;
    if (!open) return;
    this.open = undefined;
    const signature = open.type === 'thinking' ? this.sealed() : undefined;
    if (signature !== undefined) this.delta('signature_delta', 'signature', signature);
    this.stop();
  }

  private beginCall({ index, id, text }: NamelessCall, name: string): void {
    this.nameless = undefined;
    this.begin({ type: 'tool_use', call: index }, toolUse(id, name, {}));
    this.argumentsText(text);
  }

  private argumentsText(text: string): void {
    if (text !== '') this.delta('input_json_delta', 'partial_json', text);
  }

  private begin(block: OpenBlock, content: Fields): void {
    this.close();
    this.open = block;
    this.index += 1;
    this.frames += namedFrame({ type: 'content_block_start', index: this.index, content_block: content });
  }

  private delta(type: string, member: string, text: string): void {
    const delta = `{"type":"${type}","${member}":${JSON.stringify(text)}}`;
    this.frames += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.index},"delta":${delta}}\n\n`;
  }

  private stop(): void {
    this.frames += namedFrame({ type: 'content_block_stop', index: this.index });
  }
}
