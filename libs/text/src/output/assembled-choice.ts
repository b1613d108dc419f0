import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';

/** A part of a choice in the format of the contract: its whole message, or a delta. */
export interface ChoicePiece {
  readonly index: number;
  readonly delta: Fields;
  readonly logprobs: Fields | null | undefined;
  /** `null` while the choice continues. */
  readonly finish_reason: FinishReason | null;
  readonly stop_reason: 'stop' | 'length' | null | undefined;
  /** Only for a request with `return_token_ids`. */
  readonly token_ids?: readonly number[] | undefined;
  /** For a response to an original request: the text of the event, on the first of its pieces. */
  readonly original?: string;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A choice of a response that is not streamed, in the format of the contract. */
export interface WholeChoice {
  readonly index: number;
  readonly finish_reason: FinishReason;
  readonly stop_reason: 'stop' | 'length' | null;
  readonly logprobs: Fields | null;
  readonly message: Fields;
  readonly token_ids?: readonly number[];
}

/** Members of a delta that are fragments of a text. */
const TEXTS = new Set(['content', 'reasoning_content', 'refusal']);

/** Assembles a choice from its pieces. */
export class AssembledChoice {
  private readonly message: Fields = { content: null, refusal: null, reasoning_content: null };
  private readonly toolCalls: Fields[] = [];
  /** The entries of lists in the message, by list and index. */
  private entries: Map<unknown[], Map<unknown, Fields>> | undefined;
  private logprobs: Fields | null = null;
  private finishReason: FinishReason | null = null;
  private stopReason: 'stop' | 'length' | null = null;
  private tokenIds: number[] | undefined;

  constructor(readonly index: number) {}

  add({ delta, logprobs, finish_reason: finished, stop_reason: stopped, token_ids: ids }: ChoicePiece): void {
    if (ids) for (const id of ids) (this.tokenIds ??= []).push(id);
    this.finishReason = finished ?? this.finishReason;
    this.stopReason = stopped ?? this.stopReason;
    this.logprobs = joinLogprobs(this.logprobs, logprobs);
    for (const name of Object.keys(delta)) if (name !== 'tool_calls') this.addMember(name, delta[name]);
    const { tool_calls: fragments } = delta;
    if (fragments !== undefined) for (const fragment of fieldsOf(fragments)) this.addFragment(fragment);
  }

  /** The assembled choice. A choice without a finish reason was cut off; its tool calls stay incomplete. */
  whole(): WholeChoice {
    const { index, logprobs, finishReason, stopReason, toolCalls, tokenIds } = this;
    const message: Fields = { ...this.message, role: 'assistant' };
    if (toolCalls.length > 0) {
      // Streams begin with an empty text before they turn out to have none.
      if (message['content'] === '') message['content'] = null;
      message['tool_calls'] = toolCalls;
    }
    return {
      index,
      finish_reason: finishReason ?? 'length',
      stop_reason: stopReason,
      logprobs,
      message,
      ...(tokenIds && { token_ids: tokenIds }),
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

  /** Appends to a list that arrives in parts. An entry with the index of an earlier one extends its text. */
  private addEntries(list: unknown[], more: readonly unknown[]): void {
    const entries = (this.entries ??= new Map<unknown[], Map<unknown, Fields>>());
    const byIndex = entries.get(list) ?? firstByIndex(list);
    entries.set(list, byIndex);
    for (const entry of more) {
      const index = isFields(entry) ? entry['index'] : undefined;
      const known = index === undefined ? undefined : byIndex.get(index);
      if (known && isFields(entry) && known['type'] === entry['type']) {
        continueWith(known, entry);
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
    // The id and type came with the first fragment.
    for (const [name, more] of Object.entries(fragment)) {
      const begun = known[name];
      if (isFields(more) && isFields(begun)) addCalled(begun, more);
      else if (isFields(more)) known[name] = more;
    }
  }
}

/** Appends to a called function: the name is sent once, arguments or input in parts. */
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

function continueWith(known: Fields, entry: Fields): void {
  for (const [name, value] of Object.entries(entry)) {
    const goesOn = PIECES.has(name) && typeof value === 'string';
    if (isPresent(value)) known[name] = goesOn ? textOf(known[name]) + value : value;
  }
}

/** Members of an entry of `reasoning_details` that arrive in parts. */
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

/** False for an empty text, which some backends send as `finish_reason` until they have one. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
