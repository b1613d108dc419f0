import { type Fields, isFields, unusable } from '@svc/contracts/inference';
import { toolUse } from './message-head.js';
import { ObjectEnd } from './object-end.js';

/** A block, of which everything so far is written if it is the first one. */
interface Block {
  readonly type: 'text' | 'thinking' | 'tool_use' | 'whole';
  /** Its content at its beginning; undefined for a call until its name is known. */
  content: Fields | undefined;
  /** The text that is not written yet. */
  text: string;
  /** For a call. */
  readonly call?: { readonly index: number; readonly id: unknown; readonly end: ObjectEnd };
}

/** The type of the events that add text to a block, and the member with the text. */
const DELTAS = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
  whole: ['', ''],
} as const;

/** An event of a stream, whose name is the type of its data. */
export function namedFrame(data: Fields): string {
  return `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Writes the content of a message as the events of its blocks. One block is open at a time, and their
 * indexes are in order, as clients expect. Backends may mix the pieces of several calls and texts, so
 * whatever arrives for a later block waits until the open one ends: a text when another block has begun, a
 * call when its arguments are a whole object.
 */
export class BlockEvents {
  private frames = '';
  private index = -1;
  /** The open block, then those that wait for its end, in the order in which they began. */
  private readonly blocks: Block[] = [];
  /** Whether the first block has begun for the client. */
  private isOpen = false;
  /** The calls of the blocks. */
  private readonly calls = new Map<number, Block>();
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
    this.addText({ type: 'text', text: '' }, text);
  }

  thinking(thinking: string): void {
    this.addText({ type: 'thinking', thinking: '', signature: '' }, thinking);
  }

  /** A fragment of a call. The first one of each call has its id. Refuses: INFERENCE_FAILED. */
  call(fragment: Fields): void {
    const index = Number(fragment['index']);
    const called = isFields(fragment['function']) ? fragment['function'] : {};
    const { name, arguments: text } = called;
    if (index > this.lastCall) {
      this.lastCall = index;
      const call = { index, id: fragment['id'], end: new ObjectEnd() };
      const begun: Block = { type: 'tool_use', content: undefined, text: '', call };
      this.calls.set(index, begun);
      this.blocks.push(begun);
    }
    const block = this.calls.get(index);
    if (block?.call && typeof name === 'string') block.content ??= toolUse(block.call.id, name, {});
    if (block?.call && typeof text === 'string') {
      block.text += text;
      block.call.end.read(text);
    } else if (typeof text === 'string' && text.trim() !== '')
      throw unusable('the backend continues a tool call after its arguments');
    this.write();
  }

  /** A block that is complete from the start. */
  whole(block: Fields): void {
    this.blocks.push({ type: 'whole', content: block, text: '' });
    this.write();
  }

  /** Ends all blocks. */
  close(): void {
    while (this.blocks[0]) this.endFirst(this.blocks[0]);
  }

  private addText(content: Fields & { readonly type: 'text' | 'thinking' }, text: string): void {
    if (text === '') return;
    // At most one of each type waits, so that a backend cannot make a client's blocks as many as its chunks.
    const begun = this.blocks.find(({ type }) => type === content.type);
    if (begun) begun.text += text;
    else this.blocks.push({ type: content.type, content, text });
    this.write();
  }

  /** Writes what may be written now. */
  private write(): void {
    for (;;) {
      const [first, next] = this.blocks;
      if (!first) return;
      if (first.content) this.writeFirst(first, first.content);
      const isOver = first.type === 'whole' || (next && (first.call?.end.isReached ?? true));
      if (!isOver || !first.content) return;
      this.endFirst(first);
    }
  }

  private writeFirst(block: Block, content: Fields): void {
    if (!this.isOpen) {
      this.isOpen = true;
      this.index += 1;
      this.frames += namedFrame({ type: 'content_block_start', index: this.index, content_block: content });
    }
    const [type, member] = DELTAS[block.type];
    if (block.text !== '') this.delta(type, member, block.text);
    block.text = '';
  }

  private endFirst(block: Block): void {
    this.writeFirst(block, block.content ?? toolUse(block.call?.id, '', {}));
    this.blocks.shift();
    this.isOpen = false;
    if (block.call) this.calls.delete(block.call.index);
    const signature = block.type === 'thinking' ? this.sealed() : undefined;
    if (signature !== undefined) this.delta('signature_delta', 'signature', signature);
    this.frames += namedFrame({ type: 'content_block_stop', index: this.index });
  }

  private delta(type: string, member: string, text: string): void {
    const delta = `{"type":"${type}","${member}":${JSON.stringify(text)}}`;
    this.frames += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.index},"delta":${delta}}\n\n`;
  }
}
