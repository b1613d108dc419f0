import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';
import { wrapLogprobs } from './logprobs.js';
import { placeTexts } from './message-texts.js';
import { ToolCallStream, adoptFunctionCall } from './tool-calls.js';

/** Members of a delta that are pieces of a text. */
const TEXTS = new Set(['content', 'reasoning_content', 'refusal']);

/** A choice of a stream, put together to what it would be in an answer that came whole. */
export class GatheredChoice {
  private readonly message: Fields = { content: null, refusal: null };
  private readonly calls = new ToolCallStream();
  private readonly toolCalls: Fields[] = [];
  private logprobs: Fields | null = null;
  /** What a choice has beside its message, the last that was said of each. */
  private rest: Fields = {};

  constructor(readonly index: number) {}

  /** Once it has finished, nothing more is taken. */
  get isFinished(): boolean {
    return isSaid(this.rest['finish_reason']);
  }

  /** The delta of one of its chunks, with texts and calls in their places. To be asked once for each chunk. */
  placed(choice: Fields): Fields {
    const delta = isFields(choice['delta']) ? choice['delta'] : {};
    placeTexts(delta);
    adoptFunctionCall(delta);
    const { tool_calls: fragments } = delta;
    if (fragments !== undefined) delta['tool_calls'] = this.calls.shape(fragments);
    return delta;
  }

  /** Takes a chunk, and its delta as `placed` gave it. */
  add(choice: Fields, delta: Fields): void {
    const { delta: _delta, index: _index, logprobs, ...rest } = choice;
    for (const [name, value] of Object.entries(rest)) if (isSaid(value)) this.rest[name] = value;
    this.logprobs = joinLogprobs(this.logprobs, wrapLogprobs(logprobs));
    const { tool_calls: fragments, ...members } = delta;
    for (const [name, value] of Object.entries(members)) this.addMember(name, value);
    for (const fragment of fieldsOf(fragments)) this.addFragment(fragment);
  }

  /** As a backend would have written it. */
  whole(): Fields {
    const { message, logprobs, toolCalls, index } = this;
    if (toolCalls.length === 0) return { ...this.rest, index, message, logprobs };
    // Streams begin with an empty text before it is known that there is none.
    const content = message['content'] === '' ? null : message['content'];
    const calls = this.isFinished ? toolCalls.map(withArguments) : toolCalls;
    return { ...this.rest, index, message: { ...message, content, tool_calls: calls }, logprobs };
  }

  private addMember(name: string, value: unknown): void {
    const { [name]: known } = this.message;
    if (value === undefined || value === null) return;
    if (TEXTS.has(name) && typeof value === 'string') {
      this.message[name] = typeof known === 'string' ? known + value : value;
    } else if (Array.isArray(value) && Array.isArray(known)) {
      for (const entry of value as unknown[]) addEntry(known, entry);
    } else {
      this.message[name] = value;
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

/** Adds to a list that comes in pieces. An entry with the index of an earlier one goes on with its text. */
function addEntry(list: unknown[], entry: unknown): void {
  const index = isFields(entry) ? entry['index'] : undefined;
  const known = index === undefined ? undefined : fieldsOf(list).find((other) => other['index'] === index);
  if (!known || !isFields(entry) || known['type'] !== entry['type']) {
    list.push(entry);
    return;
  }
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
