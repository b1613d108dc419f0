import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { AssembledChoice, type ChoicePiece } from './assembled-choice.js';
import { isEmptyDelta } from './message-texts.js';

/** Longer arguments are not accepted as a query. */
const ARGUMENT_CHARACTERS = 4_096;

/** Limit on the recorded text before a call. A call after more text is not made. */
const MESSAGE_CHARACTERS = 65_536;

/**
 * A call of the internal tool: its arguments so far, and the message to show the model in the follow-up call.
 */
export interface InternalToolCall {
  readonly arguments: string;
  /** The model's message up to and including the call, with its arguments replaced. */
  readonly messageWith: (argumentsText: string) => Fields;
  readonly id: string;
}

/**
 * Hides an internal tool from the client in one choice. If its call comes before any call of the client's own
 * tools, it is made, and nothing after it is shown. Any other call of it is removed.
 */
export class InternalTool {
  /** Whether the client has been shown anything. */
  isShown = false;
  /** Whether visible text has been shown. Later text must then be separated from it. */
  isTextShown = false;
  /** Whether the call is complete and the rest of the response can be discarded. */
  isOver = false;
  private readonly assembled = new AssembledChoice(0);
  private characters = 0;
  private calledCharacters = 0;
  /** Indexes that the client sees for calls of its own tools, by their original index. */
  private readonly places = new Map<number, number>();
  private readonly hidden = new Set<number>();
  /** Calls whose name has not arrived yet. */
  private readonly nameless = new Map<number, Fields>();
  private calledAt: number | undefined;

  /** @param mayCall Whether its call is made; otherwise every call is removed. */
  constructor(
    readonly name: string,
    private readonly mayCall: boolean,
  ) {}

  /** Whether the response contained only hidden calls. */
  get hidesAll(): boolean {
    return this.hidden.size > 0 && !this.isShown;
  }

  /** The call, once it has begun. */
  get call(): InternalToolCall | undefined {
    const { calledAt, name } = this;
    if (calledAt === undefined) return undefined;
    const { message } = this.assembled.whole();
    const { tool_calls: calls, content, reasoning_content: thought, reasoning_details: details } = message;
    const own = fieldsOf(calls).find((call) => nameOf(call) === name) ?? {};
    const called = isFields(own['function']) ? own['function'] : {};
    const messageWith = (text: string): Fields => ({
      role: 'assistant',
      content: content ?? null,
      ...(typeof thought === 'string' && { reasoning_content: thought }),
      ...(details !== undefined && { reasoning_details: details }),
      tool_calls: [{ ...own, function: { ...called, arguments: text } }],
    });
    return { arguments: textOf(called['arguments']), id: textOf(own['id']), messageWith };
  }

  /** Records a delta before anything is removed from it. */
  add(delta: Fields): void {
    if (!this.mayCall || this.characters > MESSAGE_CHARACTERS) return;
    for (const text of textsOf(delta)) this.characters += text.length;
    // Copied, because `shown` changes the delta.
    const copy = structuredClone(delta);
    this.assembled.add({
      index: 0,
      delta: copy,
      logprobs: null,
      finish_reason: null,
      stop_reason: undefined,
    });
  }

  /** The part of a piece that the client sees; undefined for nothing. Changes the piece. */
  shown(piece: ChoicePiece): ChoicePiece | undefined {
    const { delta, finish_reason: reason } = piece;
    if (this.calledAt !== undefined) {
      this.isOver ||= this.goesElsewhere(delta);
      return undefined;
    }
    if (delta['tool_calls'] !== undefined) {
      const calls = fieldsOf(delta['tool_calls']).flatMap((fragment) => this.place(fragment));
      delta['tool_calls'] = calls.length > 0 ? calls : undefined;
    }
    const says = !isEmptyDelta({ ...delta, role: undefined });
    this.isShown ||= says;
    this.isTextShown ||= typeof delta['content'] === 'string' && delta['content'].trim() !== '';
    if (this.calledAt !== undefined) return says ? { ...piece, finish_reason: null } : undefined;
    // A lone role is held back, because an internal call may follow.
    if (!says && reason === null && !this.isShown) return undefined;
    const hasNoCall = reason === 'tool_calls' && this.places.size === 0;
    return hasNoCall ? { ...piece, finish_reason: 'stop' } : piece;
  }

  /** A tool call fragment as the client sees it; empty if hidden. */
  private place(fragment: Fields): Fields[] {
    const index = Number(fragment['index']);
    if (this.calledAt !== undefined || this.hidden.has(index)) return [];
    const known = this.places.get(index);
    if (known !== undefined) return [{ ...fragment, index: known }];
    const begun = joined(this.nameless.get(index), fragment);
    if (isFields(begun['function']) && nameOf(begun) === '') {
      this.nameless.set(index, begun);
      return [];
    }
    this.nameless.delete(index);
    if (nameOf(begun) !== this.name) {
      const place = this.places.size;
      this.places.set(index, place);
      return [{ ...begun, index: place }];
    }
    this.hidden.add(index);
    const isWanted = this.mayCall && this.places.size === 0 && this.characters <= MESSAGE_CHARACTERS;
    if (isWanted) this.calledAt = index;
    return [];
  }

  /** Whether something other than the call follows, or its arguments are too long. */
  private goesElsewhere(delta: Fields): boolean {
    const { content, tool_calls: calls } = delta;
    if (typeof content === 'string' && content.trim() !== '') return true;
    if (fieldsOf(calls).some(({ index }) => Number(index) !== this.calledAt)) return true;
    for (const text of textsOf(delta)) this.calledCharacters += text.length;
    return this.calledCharacters > ARGUMENT_CHARACTERS;
  }
}

function joined(begun: Fields | undefined, fragment: Fields): Fields {
  const { function: called } = fragment;
  if (!begun || !isFields(begun['function']) || !isFields(called)) return begun ?? fragment;
  const text = textOf(begun['function']['arguments']) + textOf(called['arguments']);
  return { ...begun, function: { ...begun['function'], name: called['name'], arguments: text } };
}

function nameOf({ function: called }: Fields): string {
  return isFields(called) ? textOf(called['name']) : '';
}

function textsOf({ content, reasoning_content: thought, tool_calls: calls }: Fields): string[] {
  const called = fieldsOf(calls).map(({ function: each }) => (isFields(each) ? each['arguments'] : ''));
  return [content, thought, ...called].map(textOf);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
