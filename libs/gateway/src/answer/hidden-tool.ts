import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';
import { AssembledChoice } from './assembled-choice.js';
import { saysNothing } from './message-texts.js';
import type { ChoicePiece } from './normaliser.js';

/** Longer arguments are no query. */
const ARGUMENT_CHARACTERS = 4_096;

/** What is kept of what a model says before a call. A call behind more than that is not made. */
const SAID_CHARACTERS = 65_536;

/** A call of the hidden tool: its arguments as far as they came, and what its model is to be shown of itself. */
export interface HiddenCall {
  readonly arguments: string;
  /** What the model said before it, and the call with arguments in place of its own. */
  readonly said: (argumentsText: string) => Fields;
  readonly id: string;
}

/**
 * Keeps a tool of the service out of what a client sees of one choice. A call of it that comes before any call of the
 * client's own tools is what the model wants first: nothing that follows it is shown. Any other call of it is left out as if it had
 * not been made.
 */
export class HiddenTool {
  /** Whether something was shown. */
  isShown = false;
  /** Whether text was, which what follows has to be set apart from. */
  isTextShown = false;
  /** Whether the call is made and what still comes is for nobody. */
  isOver = false;
  private readonly heard = new AssembledChoice(0);
  private heardCharacters = 0;
  private calledCharacters = 0;
  /** Where calls of the client's own tools stand in what it sees, by their index. */
  private readonly places = new Map<number, number>();
  private readonly hidden = new Set<number>();
  /** Calls whose name has not come yet. */
  private readonly nameless = new Map<number, Fields>();
  private calledAt: number | undefined;

  /** @param mayCall Whether a call is made of it; else every one is left out. */
  constructor(
    readonly name: string,
    private readonly mayCall: boolean,
  ) {}

  /** Whether calls were kept from the client and nothing else was said. */
  get hidesAll(): boolean {
    return this.hidden.size > 0 && !this.isShown;
  }

  /** The call, once it has begun. */
  get call(): HiddenCall | undefined {
    const { calledAt, name } = this;
    if (calledAt === undefined) return undefined;
    const { message } = this.heard.whole();
    const { tool_calls: calls, content, reasoning_content: thought, reasoning_details: details } = message;
    const own = fieldsOf(calls).find((call) => nameOf(call) === name) ?? {};
    const called = isFields(own['function']) ? own['function'] : {};
    const said = (text: string): Fields => ({
      role: 'assistant',
      content: content ?? null,
      ...(typeof thought === 'string' && { reasoning_content: thought }),
      ...(details !== undefined && { reasoning_details: details }),
      tool_calls: [{ ...own, function: { ...called, arguments: text } }],
    });
    return { arguments: textOf(called['arguments']), id: textOf(own['id']), said };
  }

  /** Takes note of what a backend says, before anything is taken out of it. */
  hear(delta: Fields): void {
    if (!this.mayCall || this.heardCharacters > SAID_CHARACTERS) return;
    for (const text of textsOf(delta)) this.heardCharacters += text.length;
    // What is shown is changed on its way.
    const copy = structuredClone(delta);
    this.heard.add({ index: 0, delta: copy, logprobs: null, finish_reason: null, stop_reason: undefined });
  }

  /** What a client is shown of a piece, which it changes; `undefined` for nothing. */
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
    const says = !saysNothing({ ...delta, role: undefined });
    this.isShown ||= says;
    this.isTextShown ||= typeof delta['content'] === 'string' && delta['content'].trim() !== '';
    if (this.calledAt !== undefined) return says ? { ...piece, finish_reason: null } : undefined;
    // A role alone may be all there is before a call.
    if (!says && reason === null && !this.isShown) return undefined;
    const hasNoCall = reason === 'tool_calls' && this.places.size === 0;
    return hasNoCall ? { ...piece, finish_reason: 'stop' } : piece;
  }

  /** A fragment as the client sees it. */
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
    const isWanted = this.mayCall && this.places.size === 0 && this.heardCharacters <= SAID_CHARACTERS;
    if (isWanted) this.calledAt = index;
    return [];
  }

  /** Whether something follows the call, or its arguments are none. */
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
