import type { Usage } from '@svc/contracts';
import {
  type Fields,
  backendError,
  fieldsOf,
  isFields,
  parseBackendJson,
  unusable,
} from '../json/backend-json.js';
import type { ThinkingPlan } from '../request/thinking-plan.js';
import { Meter } from '../tokens/meter.js';
import { CitationMarkers } from '../web/citation-markers.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { HiddenTool } from './hidden-tool.js';
import { filterTokens, wrapLogprobs } from './logprobs.js';
import { isTextParts, placeTexts } from './message-texts.js';
import { ThinkBlocks } from './think-blocks.js';
import { ToolCallStream, adoptFunctionCall, wholeToolCalls } from './tool-calls.js';
import { readUsage } from './usage.js';

/** Choices in one answer: as many as anyone may ask for. */
const CHOICES_LIMIT = 128;

/** What a backend says of a choice, in the form of the contract: all of its message, or what it grows by. */
export interface ChoicePiece {
  readonly index: number;
  readonly delta: Fields;
  readonly logprobs: Fields | null | undefined;
  /** `null` while the choice goes on. */
  readonly finish_reason: FinishReason | null;
  readonly stop_reason: 'stop' | 'length' | null | undefined;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A choice as far as it has come. */
interface ChoiceState {
  finished: boolean;
  calls: ToolCallStream | undefined;
  /** Takes thoughts out of the text; absent where they stay. */
  readonly blocks: ThinkBlocks | undefined;
  /** Lets citations through that have a source. */
  readonly markers: CitationMarkers | undefined;
  /** Keeps a tool of the service out of it. */
  readonly tool: HiddenTool | undefined;
}

/** How a backend says its answer: message by message, or delta by delta. */
type Saying = 'message' | 'delta';

export interface Normalising {
  readonly saying: Saying;
  /** What is done about the thoughts in it. */
  readonly thinking: Pick<ThinkingPlan, 'strip' | 'startsInside'>;
  readonly tokenizer: Tokenizer | undefined;
  /** The number of sources that it may cite; without one, what looks like a citation is text. */
  readonly sources?: number | undefined;
  /** A tool of the service that its client is not to see. */
  readonly tool?: HiddenTool | undefined;
}

/**
 * Brings what a backend says into the form of the contract, whether it says it in one piece or in many: texts and calls
 * in their places, one `finish_reason` per choice, thoughts taken out where they are not wanted. The meter counts what
 * the backend generated, taken out or not.
 */
export class AnswerNormaliser {
  readonly meter: Meter;
  /** Characters of JSON that the backend has sent. There are at least as many bytes. */
  received = 0;
  /** What the backend counted, once it has. */
  reported: Usage | undefined;
  /** As it stands in an answer that is not streamed. */
  promptLogprobs: unknown = null;
  /** Addresses that the answer rests on, where its backend searched by itself. */
  citedUrls: readonly string[] = [];
  private readonly choices = new Map<number, ChoiceState>();

  constructor(private readonly how: Normalising) {
    this.meter = new Meter(how.tokenizer);
  }

  /** Whether thoughts are taken out. */
  get strips(): boolean {
    return this.how.thinking.strip;
  }

  get tool(): HiddenTool | undefined {
    return this.how.tool;
  }

  /** What is known of how much the answer took. */
  get counts(): { reported: Usage | undefined; meter: Meter; received: number } {
    const { reported, meter, received } = this;
    return { reported, meter, received };
  }

  /** Reads a body, or the data of one event. Throws what the backend reports as an error. */
  read(text: string): ChoicePiece[] {
    this.received += text.length;
    const said = parseBackendJson(text);
    if (said['error'] && (this.how.saying === 'delta' || !said['choices'])) throw backendError(said['error']);
    if (said['object'] === 'error') throw backendError(said);
    this.reported = readUsage(said['usage']) ?? this.reported;
    this.promptLogprobs = said['prompt_logprobs'] ?? this.promptLogprobs;
    if (said['citations'] !== undefined) this.citedUrls = addressesIn(said['citations']);
    const pieces: ChoicePiece[] = [];
    for (const [position, choice] of fieldsOf(said['choices']).entries()) {
      const piece = this.readChoice(choice, position);
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  /** Whether the backend has said anything that is an answer. */
  get hasChoices(): boolean {
    return this.choices.size > 0;
  }

  /** Gives every choice that has none its `finish_reason`. */
  finish(reason: 'stop' | 'length'): ChoicePiece[] {
    if (this.choices.size === 0) this.stateOf(0);
    const pieces: ChoicePiece[] = [];
    for (const [index, { tool }] of this.choices) {
      const piece = tool?.call
        ? { index, delta: {}, logprobs: null, finish_reason: reason, stop_reason: undefined }
        : this.readChoice({ index, logprobs: null, finish_reason: reason }, index);
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    if (this.choices.size === CHOICES_LIMIT) throw unusable('the backend sends too many choices');
    const { strip, startsInside } = this.how.thinking;
    const blocks = strip ? new ThinkBlocks(startsInside) : undefined;
    const { sources, tool: hidden } = this.how;
    // It is offered where one choice is asked for.
    const tool = hidden && index > 0 ? new HiddenTool(hidden.name, false) : hidden;
    const markers = sources === undefined ? undefined : new CitationMarkers(sources);
    const state = { finished: false, calls: undefined, blocks, markers, tool };
    this.choices.set(index, state);
    return state;
  }

  /** `undefined` once a choice has finished: nothing more of it is passed on. */
  private readChoice(choice: Fields, position: number): ChoicePiece | undefined {
    const { saying } = this.how;
    const index = choiceIndex(choice['index'], saying === 'message' ? position : 0);
    const state = this.stateOf(index);
    if (state.finished) return undefined;
    const delta = isFields(choice[saying]) ? choice[saying] : {};
    const { content: given } = delta;
    placeTexts(delta);
    if (saying === 'message' && !state.blocks && !state.markers && isTextParts(given))
      delta['content'] = given;
    adoptFunctionCall(delta);
    const hasCalls = saying === 'message' ? placeWholeCalls(delta) : placeCalls(state, delta);
    this.meter.addMessage(delta, index);
    state.tool?.hear(delta);
    const reason = saysNothingYet(choice['finish_reason'])
      ? null
      : finishReason(choice['finish_reason'], hasCalls);
    const finish = saying === 'message' ? finishReason(reason, hasCalls) : reason;
    state.finished = finish !== null;
    let logprobs = wrapLogprobs(choice['logprobs']);
    if (state.blocks)
      logprobs = this.withoutThoughts(state.blocks, { delta, logprobs, isLast: state.finished });
    if (state.markers) logprobs = cited(state.markers, { delta, logprobs, isLast: state.finished });
    const { stop_reason: stop } = choice;
    const stopped = stop === undefined ? undefined : stopReason(stop);
    const piece = { index, delta, logprobs, finish_reason: finish, stop_reason: stopped };
    return state.tool ? state.tool.shown(piece) : piece;
  }

  /** Takes thoughts out of a delta, which it changes; gives the logprobs of what is left. */
  private withoutThoughts(
    blocks: ThinkBlocks,
    { delta, logprobs, isLast }: Thoughtful,
  ): ChoicePiece['logprobs'] {
    delta['reasoning_content'] = undefined;
    const text = typeof delta['content'] === 'string' ? delta['content'] : '';
    let { visible } = blocks.read(text);
    if (isLast) visible += blocks.end().visible;
    if (visible === text) return logprobs;
    delta['content'] = visible;
    // They are the tokens of the text, thoughts included. Which of a piece are left is known where it is all there is.
    if (!logprobs || this.how.saying === 'delta') return logprobs && null;
    const tokens = new ThinkBlocks(this.how.thinking.startsInside);
    return filterTokens(logprobs, (token) => tokens.read(token).visible === token);
  }
}

/** Sources of one answer; backends name some dozens. */
const SOURCES_LIMIT = 100;

/** The addresses of pages in a list of addresses. */
function addressesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[])
    .slice(0, SOURCES_LIMIT)
    .filter((url) => typeof url === 'string' && url.length <= 2_000 && /^https?:\/\//i.test(url))
    .map(String);
}

/** Leaves of a delta the citations that have a source; its logprobs where they are still those of its text. */
function cited(markers: CitationMarkers, { delta, logprobs, isLast }: Thoughtful): ChoicePiece['logprobs'] {
  const text = typeof delta['content'] === 'string' ? delta['content'] : '';
  const shown = markers.read(text) + (isLast ? markers.end() : '');
  if (shown === text) return logprobs;
  delta['content'] = shown;
  return logprobs && null;
}

interface Thoughtful {
  readonly delta: Fields;
  readonly logprobs: ChoicePiece['logprobs'];
  readonly isLast: boolean;
}

/** Whether a choice has calls. Changes the delta: theirs get the form of the contract. */
function placeCalls(state: ChoiceState, delta: Fields): boolean {
  const { tool_calls: fragments } = delta;
  if (fragments !== undefined) {
    const isEmpty = !Array.isArray(fragments) || fragments.length === 0;
    if (!isEmpty) state.calls ??= new ToolCallStream();
    delta['tool_calls'] = isEmpty ? undefined : state.calls?.shape(fragments);
  }
  return state.calls !== undefined;
}

/** The same of a whole message. */
function placeWholeCalls(message: Fields): boolean {
  const calls = wholeToolCalls(message['tool_calls']);
  message['tool_calls'] = calls.length === 0 ? undefined : calls.map((call, index) => ({ index, ...call }));
  return calls.length > 0;
}

/** Some backends say an empty `finish_reason` until there is one. */
function saysNothingYet(reason: unknown): boolean {
  return reason === undefined || reason === null || reason === '';
}

/** A `finish_reason` that clients know. Whether there are tool calls is seen, not believed. */
function finishReason(value: unknown, hasToolCalls: boolean): FinishReason {
  switch (value) {
    case 'length':
    case 'content_filter':
      return value;
    case 'max_tokens':
    case 'model_length':
      return 'length';
    default:
      return hasToolCalls ? 'tool_calls' : 'stop';
  }
}

/** A `stop_reason` of the contract. Backends also put the stop sequence there, or the token that ended the answer. */
function stopReason(value: unknown): 'stop' | 'length' | null {
  return value === 'stop' || value === 'length' ? value : null;
}

/** An index of a choice, where a backend gives a usable one. */
function choiceIndex(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : otherwise;
}
