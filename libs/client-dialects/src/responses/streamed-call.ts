import { type Fields, isFields } from '@svc/contracts/inference';
import type { EventWriter } from './event-writer.js';
import { type OfferedTools, toolNamed } from './offered-tools.js';
import { type ItemStatus, type WrittenCall, callItem, itemId } from './output-items.js';

/** A call of a tool in a stream. Its item begins when the name of the tool is known. */
export class StreamedCall {
  private callId = '';
  private name = '';
  private text = '';
  private extra: unknown;
  private place: { readonly item_id: string; readonly output_index: number } | undefined;

  constructor(
    private readonly events: EventWriter,
    private readonly tools: OfferedTools,
  ) {}

  get isBegun(): boolean {
    return this.place !== undefined;
  }

  private get isCustom(): boolean {
    return toolNamed(this.name, this.tools).isCustom;
  }

  /** Whether the item can begin. */
  get canBegin(): boolean {
    return this.name !== '';
  }

  take(fragment: Fields): void {
    const { id, function: called, extra_content: extra } = fragment;
    const { name, arguments: more } = isFields(called) ? called : {};
    if (typeof id === 'string') this.callId = id;
    if (typeof name === 'string' && this.name === '') this.name = name;
    this.extra = extra ?? this.extra;
    if (typeof more === 'string' && more !== '') {
      this.text += more;
      if (this.place && !this.isCustom) this.addDelta(more);
    }
  }

  begin(responseId: string, at: number): void {
    const id = itemId(this.isCustom ? 'custom' : 'call', responseId, at);
    this.place = { item_id: id, output_index: at };
    const item = callItem(id, 'in_progress', { ...this.written, text: '' });
    this.events.add('response.output_item.added', { output_index: at, item });
    if (this.text !== '' && !this.isCustom) this.addDelta(this.text);
  }

  /** Ends the item. Must have begun. */
  end(status: ItemStatus): { at: number; item: object } {
    const { item_id: id = '', output_index: at = 0 } = this.place ?? {};
    const item = callItem(id, status, this.written);
    if ('input' in item) {
      const { input } = item as { input: string };
      if (input !== '')
        this.events.add('response.custom_tool_call_input.delta', { ...this.place, delta: input });
      this.events.add('response.custom_tool_call_input.done', { ...this.place, input });
    } else {
      const { name, text } = this;
      this.events.add('response.function_call_arguments.done', { ...this.place, name, arguments: text });
    }
    this.events.add('response.output_item.done', { output_index: at, item });
    return { at, item };
  }

  private get written(): WrittenCall {
    const { callId, text, extra } = this;
    return { callId, tool: toolNamed(this.name, this.tools), text, extra };
  }

  private addDelta(delta: string): void {
    this.events.add('response.function_call_arguments.delta', { ...this.place, delta });
  }
}
