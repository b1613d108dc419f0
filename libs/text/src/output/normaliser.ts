import type { Problem } from '@svc/contracts/problems';
import { hasFailed, isError, readChoiceEnd } from '@svc/contracts/messages';
import {
  type Fields,
  backendError,
  fieldsOf,
  isFields,
  parseBackendJson,
  unusable,
  jsonMembers,
} from '@svc/paid/json';
import type { ThinkingPlan } from '../request/thinking-plan.js';
import { plainBytes } from '../tokens/ciphertext.js';
import { Meter } from '../tokens/meter.js';
import { CitationMarkers } from '../web/citation-markers.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import type { ChoicePiece, FinishReason } from './assembled-choice.js';
import { requireCiphertext } from './encrypted-delta.js';
import { InternalTool } from './internal-tool.js';
import { filterTokens, wrapLogprobs } from './logprobs.js';
import { TextPlaces, isTextParts, removeReasoning } from './message-texts.js';
import type { Repetition } from './repeated-chunk.js';
import { ThinkBlocks } from './think-blocks.js';
import { ToolCallStream, adoptFunctionCall, wholeToolCalls } from './tool-calls.js';
import { type ReportedUsage, readUsage } from './usage-reading.js';

/** The most choices in one response, equal to the highest `n` of a request. */
const CHOICES_LIMIT = 128;

/** The state of a choice so far. */
interface ChoiceState {
  begun: boolean;
  finished: boolean;
  calls: ToolCallStream | undefined;
  readonly texts: TextPlaces;
  /** Removes reasoning from the text; undefined if it stays. */
  readonly blocks: ThinkBlocks | undefined;
  /** Keeps only citations with a source. */
  readonly markers: CitationMarkers | undefined;
  /** Hides an internal tool. */
  readonly tool: InternalTool | undefined;
}

export interface NormaliserOptions {
  /** How to treat the reasoning in the response. */
  readonly thinking: Pick<ThinkingPlan, 'strip' | 'startsInside'>;
  readonly tokenizer: Tokenizer | undefined;
  /** The number of sources that may be cited; if undefined, citations are ordinary text. */
  readonly sources?: number | undefined;
  /** An internal tool to hide from the client. */
  readonly tool?: InternalTool | undefined;
  /** Whether texts are encrypted. They are passed on unchanged, and nothing else may say anything. */
  readonly isEncrypted?: boolean;
}

/**
 * Converts a backend's response, whole or streamed, to the format of the contract: texts and calls in their
 * places, one `finish_reason` per choice, reasoning removed if unwanted. The meter counts everything the
 * backend generated, including what is removed.
 */
export class OutputNormaliser {
  readonly meter: Meter;
  /** Characters of JSON received from the backend; a lower bound for the bytes. */
  received = 0;
  /** The backend's own token counts, if reported. */
  reported: ReportedUsage | undefined;
  /**
   * Passed through to a response that is not streamed. As JSON: its members are token ids, and their order is
   * that of their probabilities.
   */
  promptLogprobs = 'null';
  /** The ids of the prompt's tokens, if they were requested. */
  promptTokenIds: readonly number[] | undefined;
  /** What a backend reports as the reason for the end, such as a stop sequence. */
  stoppedBy: string | undefined;
  /** A finish reason that no interface is known to have. */
  unknownFinish: string | undefined;
  /** Addresses cited by a backend that searches by itself. */
  citedUrls: readonly string[] = [];
  private readonly choices = new Map<number, ChoiceState>();

  /** Whether deltas keep their texts as they are. */
  readonly keepsTexts: boolean;

  constructor(private readonly how: NormaliserOptions) {
    const { thinking, sources, tool, isEncrypted } = how;
    this.meter = new Meter(how.tokenizer, isEncrypted ? plainBytes : undefined);
    this.keepsTexts = !thinking.strip && sources === undefined && !tool && !isEncrypted;
  }

  /** Whether reasoning is removed. */
  get strips(): boolean {
    return this.how.thinking.strip;
  }

  get tool(): InternalTool | undefined {
    return this.how.tool;
  }

  /** Everything known about the size of the response. */
  get counts(): { reported: ReportedUsage | undefined; meter: Meter; received: number } {
    const { reported, meter } = this;
    // Ciphertexts are longer than what they say.
    return { reported, meter, received: this.how.isEncrypted ? meter.bytes : this.received };
  }

  /**
   * Reads a body or the data of one event: choices with deltas, or with whole messages. Some backends stream
   * what was not asked for as a stream, and the reverse. Throws an error that the backend reports.
   */
  read(text: string): ChoicePiece[] {
    this.received += text.length;
    const body = parseBackendJson(text);
    const choices = fieldsOf(body['choices']);
    const isDocument = choices.some(isWhole);
    if (isError(body['error']) && !isDocument) throw this.error(body['error']);
    if (body['object'] === 'error') throw this.error(body);
    this.reported = readUsage(body) ?? this.reported;
    if (isPresent(body['prompt_logprobs']))
      this.promptLogprobs = jsonMembers(text).get('prompt_logprobs') ?? this.promptLogprobs;
    this.promptTokenIds ??= tokenIdsIn(body['prompt_token_ids']);
    if (body['citations'] !== undefined) this.citedUrls = addressesIn(body['citations']);
    const pieces: ChoicePiece[] = [];
    for (const [position, choice] of choices.entries()) {
      const piece = this.readChoice(choice, isDocument ? position : undefined);
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  /** Reads an event that repeats an earlier one, for which no pieces are needed: the length of its data. */
  repeat(characters: number, { value, repeated }: Repetition): readonly ChoicePiece[] {
    this.received += characters;
    this.meter.add(value, repeated.kind, repeated.choice);
    return [];
  }

  /** Whether the backend has sent any choices. */
  get hasChoices(): boolean {
    return this.choices.size > 0;
  }

  /** Whether it has ended every choice that it began. */
  get isFinished(): boolean {
    return this.hasChoices && [...this.choices.values()].every((choice) => choice.finished);
  }

  /** Sets the `finish_reason` of every choice that lacks one. */
  finish(reason: 'stop' | 'length'): ChoicePiece[] {
    if (this.choices.size === 0) this.stateOf(0);
    const pieces: ChoicePiece[] = [];
    for (const [index, { tool }] of this.choices) {
      const piece = tool?.call
        ? { index, delta: {}, logprobs: null, finish_reason: reason, stop_reason: undefined }
        : this.readChoice({ index, logprobs: null, finish_reason: reason });
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  /** A `finish_reason` of the contract; null while the choice continues. */
  private finishReason(value: unknown, hasToolCalls: boolean): FinishReason | null {
    const read = readChoiceEnd(value);
    if (read.end === 'not yet') return null;
    if (read.end === 'unknown') this.unknownFinish ??= read.name;
    return finished(read.end === 'unknown' || read.end === 'failure' ? 'stop' : read.end, hasToolCalls);
  }

  /** Whether a choice ends before its calls do. */
  private isCut({ finish_reason: value }: Fields): boolean {
    return (this.finishReason(value, true) ?? 'tool_calls') !== 'tool_calls';
  }

  /** The words of a backend about an encrypted response may be its plaintext. */
  private error(error: unknown): Problem {
    return this.how.isEncrypted ? unusable('the backend reported an error') : backendError(error);
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    if (this.choices.size === CHOICES_LIMIT) throw unusable('the backend sends too many choices');
    const { strip, startsInside } = this.how.thinking;
    const blocks = strip ? new ThinkBlocks(startsInside) : undefined;
    const { sources, tool: hidden } = this.how;
    // Only the first choice can call it, since it is offered only to requests for one choice.
    const tool = hidden && index > 0 ? new InternalTool(hidden.name, false) : hidden;
    const markers = sources === undefined ? undefined : new CitationMarkers(sources);
    const texts = new TextPlaces();
    const state = { begun: false, finished: false, calls: undefined, texts, blocks, markers, tool };
    this.choices.set(index, state);
    return state;
  }

  /**
   * Returns undefined once a choice has finished: the rest of it is dropped. Choices with whole messages have
   * a position.
   */
  private readChoice(choice: Fields, position?: number): ChoicePiece | undefined {
    const index = choiceIndex(choice['index'], position ?? 0);
    const state = this.stateOf(index);
    if (state.finished) return undefined;
    // After deltas, a whole message would say the same again.
    const whole = position !== undefined && !state.begun;
    if (hasFailed(choice)) throw this.error(failureIn(choice));
    state.begun = true;
    const delta = membersOf(choice, whole);
    const { content: given } = delta;
    state.texts.place(delta);
    if (whole && !state.blocks && !state.markers && isTextParts(given)) delta['content'] = given;
    adoptFunctionCall(delta);
    if (this.how.isEncrypted) requireCiphertext(delta, choice['logprobs']);
    const hasCalls = whole ? placeWholeCalls(delta, this.isCut(choice)) : placeCalls(state, delta);
    this.meter.addMessage(delta, index);
    state.tool?.add(delta);
    const reason = this.finishReason(choice['finish_reason'], hasCalls);
    const finish = whole ? (reason ?? finished('stop', hasCalls)) : reason;
    state.finished = finish !== null;
    if (finish === 'tool_calls') state.calls?.complete(delta);
    let logprobs = wrapLogprobs(choice['logprobs']);
    this.meter.addLogprobs(logprobs);
    if (state.blocks)
      logprobs = this.withoutReasoning(state.blocks, { delta, logprobs, isLast: state.finished, whole });
    if (state.markers) logprobs = cited(state.markers, { delta, logprobs, isLast: state.finished });
    if (typeof choice['stop_reason'] === 'string') this.stoppedBy = choice['stop_reason'];
    const stopped = stopReason(choice['stop_reason']);
    const shaped = { index, delta, logprobs, finish_reason: finish, stop_reason: stopped };
    const piece = this.withTokenIds(shaped, choice, state);
    return state.tool ? state.tool.shown(piece) : piece;
  }

  /** The ids of text that is left out would show it. */
  private withTokenIds(piece: ChoicePiece, { token_ids: given }: Fields, state: ChoiceState): ChoicePiece {
    const ids = tokenIdsIn(given);
    if (!ids || (state.blocks ?? state.markers ?? state.tool)) return piece;
    this.meter.addTokenIds(ids.length);
    return { ...piece, token_ids: ids };
  }

  /** Removes reasoning from a delta in place. Returns the logprobs of the remaining text. */
  private withoutReasoning(
    blocks: ThinkBlocks,
    { delta, logprobs, isLast, whole }: ReasoningDelta & { readonly whole: boolean },
  ): ChoicePiece['logprobs'] {
    removeReasoning(delta);
    const text = typeof delta['content'] === 'string' ? delta['content'] : '';
    let { visible } = blocks.read(text);
    if (isLast) visible += blocks.end().visible;
    if (visible === text) return logprobs;
    delta['content'] = visible;
    // Logprobs include the tokens of reasoning. Only in a whole response can they be matched to the remaining
    // text.
    if (!logprobs || !whole) return logprobs && null;
    const tokens = new ThinkBlocks(this.how.thinking.startsInside);
    return filterTokens(logprobs, (token) => tokens.read(token).visible === token);
  }
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

function tokenIdsIn(value: unknown): readonly number[] | undefined {
  return Array.isArray(value) && value.every((id) => Number.isSafeInteger(id))
    ? (value as number[])
    : undefined;
}

/** The most sources of one response; backends send a few dozen. */
const SOURCES_LIMIT = 100;

/** The web addresses in a list. */
function addressesIn(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[])
    .slice(0, SOURCES_LIMIT)
    .filter((url) => typeof url === 'string' && url.length <= 2_000 && /^https?:\/\//i.test(url))
    .map(String);
}

/** Removes citations without a source from a delta. Returns its logprobs if the text is unchanged. */
function cited(
  markers: CitationMarkers,
  { delta, logprobs, isLast }: ReasoningDelta,
): ChoicePiece['logprobs'] {
  const text = typeof delta['content'] === 'string' ? delta['content'] : '';
  const shown = markers.read(text) + (isLast ? markers.end() : '');
  if (shown === text) return logprobs;
  delta['content'] = shown;
  return logprobs && null;
}

interface ReasoningDelta {
  readonly delta: Fields;
  readonly logprobs: ChoicePiece['logprobs'];
  readonly isLast: boolean;
}

/** Whether a choice has tool calls. Converts those of the delta to the format of the contract. */
function placeCalls(state: ChoiceState, delta: Fields): boolean {
  const { tool_calls: fragments } = delta;
  if (fragments !== undefined) {
    const isEmpty = !Array.isArray(fragments) || fragments.length === 0;
    if (!isEmpty) state.calls ??= new ToolCallStream();
    delta['tool_calls'] = isEmpty ? undefined : state.calls?.shape(fragments);
  }
  return state.calls !== undefined;
}

/** The same for a whole message. */
function placeWholeCalls(message: Fields, isCut: boolean): boolean {
  const calls = wholeToolCalls(message['tool_calls'], isCut);
  message['tool_calls'] = calls.length === 0 ? undefined : calls.map((call, index) => ({ index, ...call }));
  return calls.length > 0;
}

/** Whether a choice has its whole message. */
const isWhole = ({ message, delta }: Fields): boolean => isFields(message) && !isFields(delta);

/** What a choice says, which may be nothing. */
function membersOf({ message, delta }: Fields, whole: boolean): Fields {
  const members = whole ? message : delta;
  return isFields(members) ? members : {};
}

/** What a server reports of a choice that has failed. */
const failureIn = ({ error, finish_reason: type }: Fields): unknown => (isError(error) ? error : { type });

/** Whether there are tool calls is determined from the response itself. */
const finished = (end: 'stop' | 'length' | 'content_filter', hasToolCalls: boolean): FinishReason =>
  end === 'stop' && hasToolCalls ? 'tool_calls' : end;

/** A `stop_reason` of the contract. Backends also use it for the stop sequence or the last token. */
function stopReason(value: unknown): 'stop' | 'length' | null | undefined {
  if (value === undefined) return undefined;
  return value === 'stop' || value === 'length' ? value : null;
}

/** The index of a choice, if the backend sends a valid one. */
function choiceIndex(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : otherwise;
}
