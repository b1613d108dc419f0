import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';
import type { ChoicePiece, FinishReason } from './normaliser.js';

/** A choice of an answer that is one document, in the form of the contract. */
export interface WholeChoice {
  readonly index: number;
  readonly finish_reason: FinishReason;
  readonly stop_reason: 'stop' | 'length' | null;
  readonly logprobs: Fields | null;
  readonly message: Fields;
}

/** Members of a delta that are pieces of a text. */
const TEXTS = new Set(['content', 'reasoning_content', 'refusal']);

/** A choice, put together from its pieces. */
export class AssembledChoice {
  private readonly message: Fields = { content: null, refusal: null, reasoning_content: null };
  private readonly toolCalls: Fields[] = [];
  /** The entries of lists among its members, by the list and their index. */
  private readonly entries = new Map<unknown[], Map<unknown, Fields>>();
  private logprobs: Fields | null = null;
  private finishReason: FinishReason | null = null;
  private stopReason: 'stop' | 'length' | null = null;

  constructor(readonly index: number) {}

  add({ delta, logprobs, finish_reason: finished, stop_reason: stopped }: ChoicePiece): void {
    this.finishReason = finished ?? this.finishReason;
    this.stopReason = stopped ?? this.stopReason;
    this.logprobs = joinLogprobs(this.logprobs, logprobs);
    const { tool_calls: fragments, ...members } = delta;
    for (const [name, value] of Object.entries(members)) this.addMember(name, value);
    for (const fragment of fieldsOf(fragments)) this.addFragment(fragment);
  }

  /** What it has come to. One that nothing finished was cut short: its calls stay as far as they came. */
  whole(): WholeChoice {
    const { index, logprobs, finishReason, stopReason, toolCalls } = this;
    const message: Fields = { ...this.message, role: 'assistant' };
    if (toolCalls.length > 0) {
      // Streams begin with an empty text before it is known that there is none.
      if (message['content'] === '') message['content'] = null;
      message['tool_calls'] = finishReason === 'tool_calls' ? toolCalls.map(withArguments) : toolCalls;
    }
    return {
      index,
      finish_reason: finishReason ?? 'length',
      stop_reason: stopReason,
      logprobs,
      message,
    };
  }

  private addMember(name: string, value: unknown): void {
    const { [name]: known } = this.message;
    if (value === undefined || value === null) return;
    if (TEXTS.has(name) && typeof value === 'string') {
      this.message[name] = typeof known === 'string' ? known + value : value;
    } else if (Array.isArray(value) && Array.isArray(known)) {
      this.addEntries(known, value);
    } else {
      this.message[name] = value;
    }
  }

  /** Adds to a list that comes in pieces. An entry with the index of an earlier one goes on with its text. */
  private addEntries(list: unknown[], more: readonly unknown[]): void {
    const byIndex = this.entries.get(list) ?? firstByIndex(list);
    this.entries.set(list, byIndex);
    for (const entry of more) {
      const index = isFields(entry) ? entry['index'] : undefined;
      const known = index === undefined ? undefined : byIndex.get(index);
      if (known && isFields(entry) && known['type'] === entry['type']) {
        goOn(known, entry);
        continue;
      }
      list.push(entry);
      if (isFields(entry) && index !== undefined && !known) byIndex.set(index, entry);
    }
  }

  private addFragment({ index, ...fragment }: Fields): void {
    const known = this.toolCalls[Number(index)];
    if (!known) {
      this.toolCalls[Number(index)] = fragment;
      return;
    }
    // Its id and type came with the first.
    for (const [name, more] of Object.entries(fragment)) {
      const begun = known[name];
      if (isFields(more) && isFields(begun)) addCalled(begun, more);
      else if (isFields(more)) known[name] = more;
    }
  }
}

/** A call for which a backend said no arguments at all has none. */
function withArguments(call: Fields): Fields {
  const { function: called } = call;
  if (!isFields(called) || called['arguments'] !== '') return call;
  return { ...call, function: { ...called, arguments: '{}' } };
}

/** Adds to what is called: a name comes once, arguments or input in pieces. */
function addCalled(begun: Fields, more: Fields): void {
  for (const [name, value] of Object.entries(more)) {
    if (typeof value !== 'string') continue;
    begun[name] = name === 'name' ? (begun['name'] ?? value) : textOf(begun[name]) + value;
  }
}

/** The first entry of each index. */
function firstByIndex(list: readonly unknown[]): Map<unknown, Fields> {
  const byIndex = new Map<unknown, Fields>();
  for (const entry of fieldsOf(list)) {
    const { index } = entry;
    if (index !== undefined && !byIndex.has(index)) byIndex.set(index, entry);
  }
  return byIndex;
}

function goOn(known: Fields, entry: Fields): void {
  for (const [name, value] of Object.entries(entry)) {
    const goesOn = PIECES.has(name) && typeof value === 'string';
    if (isSaid(value)) known[name] = goesOn ? textOf(known[name]) + value : value;
  }
}

/** Members of an entry of `reasoning_details` that come in pieces. */
const PIECES = new Set(['text', 'summary', 'data']);

function joinLogprobs(known: Fields | null, more: Fields | null | undefined): Fields | null {
  if (!known || !more) return more ?? known;
  for (const name of ['content', 'refusal']) {
    const [list, rest] = [known[name], more[name]];
    if (Array.isArray(list) && Array.isArray(rest)) for (const token of rest as unknown[]) list.push(token);
    else known[name] = list ?? rest;
  }
  return known;
}

/** Some backends say an empty `finish_reason` until there is one. */
function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
