import type { Problem } from '@svc/contracts';
import {
  type Fields,
  backendError,
  fieldsOf,
  isFields,
  parseBackendJson,
  unusable,
} from '../json/backend-json.js';
import type { ThinkingPlan } from '../request/thinking-plan.js';
import { plainBytes } from '../tokens/ciphertext.js';
import { Meter } from '../tokens/meter.js';
import { CitationMarkers } from '../web/citation-markers.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import type { ChoicePiece, FinishReason } from './assembled-choice.js';
import { requireCiphertext } from './encrypted-delta.js';
import { InternalTool } from './internal-tool.js';
import { filterTokens, wrapLogprobs } from './logprobs.js';
import { isTextParts, placeTexts } from './message-texts.js';
import type { Repetition } from './repeated-chunk.js';
import { ThinkBlocks } from './think-blocks.js';
import { ToolCallStream, adoptFunctionCall, wholeToolCalls } from './tool-calls.js';
import { type ReportedUsage, readUsage } from './usage-reading.js';

/** The most choices in one response, equal to the highest `n` of a request. */
const CHOICES_LIMIT = 128;

/** The state of a choice so far. */
interface ChoiceState {
  finished: boolean;
  calls: ToolCallStream | undefined;
  /** Removes reasoning from the text; undefined if it stays. */
  readonly blocks: ThinkBlocks | undefined;
  /** Keeps only citations with a source. */
  readonly markers: CitationMarkers | undefined;
  /** Hides an internal tool. */
  readonly tool: InternalTool | undefined;
}

/** Whether a backend sends whole messages or deltas. */
type Saying = 'message' | 'delta';

export interface NormaliserOptions {
  readonly saying: Saying;
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
  /** Passed through to a response that is not streamed. */
  promptLogprobs: unknown = null;
  /** What a backend reports as the reason for the end, such as a stop sequence. */
  stoppedBy: string | undefined;
  /** Addresses cited by a backend that searches by itself. */
  citedUrls: readonly string[] = [];
  private readonly choices = new Map<number, ChoiceState>();

  /** Whether deltas keep their texts as they are. */
  readonly keepsTexts: boolean;

  constructor(private readonly how: NormaliserOptions) {
    const { saying, thinking, sources, tool, isEncrypted } = how;
    this.meter = new Meter(how.tokenizer, isEncrypted ? plainBytes : undefined);
    this.keepsTexts = saying === 'delta' && !thinking.strip && sources === undefined && !tool && !isEncrypted;
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

  /** Reads a body or the data of one event. Throws an error that the backend reports. */
  read(text: string): ChoicePiece[] {
    this.received += text.length;
    const said = parseBackendJson(text);
    if (said['error'] && (this.how.saying === 'delta' || !said['choices'])) throw this.error(said['error']);
    if (said['object'] === 'error') throw this.error(said);
    this.reported = readUsage(said) ?? this.reported;
    this.promptLogprobs = said['prompt_logprobs'] ?? this.promptLogprobs;
    if (said['citations'] !== undefined) this.citedUrls = addressesIn(said['citations']);
    const pieces: ChoicePiece[] = [];
    for (const [position, choice] of fieldsOf(said['choices']).entries()) {
      const piece = this.readChoice(choice, position);
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

  /** Sets the `finish_reason` of every choice that lacks one. */
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

  /** The words of a backend about an encrypted response may be its plaintext. */
  private error(told: unknown): Problem {
    return this.how.isEncrypted ? unusable('the backend reported an error') : backendError(told);
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
    const state = { finished: false, calls: undefined, blocks, markers, tool };
    this.choices.set(index, state);
    return state;
  }

  /** Returns undefined once a choice has finished: the rest of it is dropped. */
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
    if (this.how.isEncrypted) requireCiphertext(delta, choice['logprobs']);
    const hasCalls = saying === 'message' ? placeWholeCalls(delta) : placeCalls(state, delta);
    this.meter.addMessage(delta, index);
    state.tool?.add(delta);
    const reason = isUnset(choice['finish_reason']) ? null : finishReason(choice['finish_reason'], hasCalls);
    const finish = saying === 'message' ? finishReason(reason, hasCalls) : reason;
    state.finished = finish !== null;
    let logprobs = wrapLogprobs(choice['logprobs']);
    if (state.blocks)
      logprobs = this.withoutReasoning(state.blocks, { delta, logprobs, isLast: state.finished });
    if (state.markers) logprobs = cited(state.markers, { delta, logprobs, isLast: state.finished });
    const { stop_reason: stop } = choice;
    const stopped = stop === undefined ? undefined : stopReason(stop);
    if (typeof stop === 'string') this.stoppedBy = stop;
    const piece = { index, delta, logprobs, finish_reason: finish, stop_reason: stopped };
    return state.tool ? state.tool.shown(piece) : piece;
  }

  /** Removes reasoning from a delta in place. Returns the logprobs of the remaining text. */
  private withoutReasoning(
    blocks: ThinkBlocks,
    { delta, logprobs, isLast }: ReasoningDelta,
  ): ChoicePiece['logprobs'] {
    delta['reasoning_content'] = undefined;
    const text = typeof delta['content'] === 'string' ? delta['content'] : '';
    let { visible } = blocks.read(text);
    if (isLast) visible += blocks.end().visible;
    if (visible === text) return logprobs;
    delta['content'] = visible;
    // Logprobs include the tokens of reasoning. Only in a whole response can they be matched to the remaining
    // text.
    if (!logprobs || this.how.saying === 'delta') return logprobs && null;
    const tokens = new ThinkBlocks(this.how.thinking.startsInside);
    return filterTokens(logprobs, (token) => tokens.read(token).visible === token);
  }
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
function placeWholeCalls(message: Fields): boolean {
  const calls = wholeToolCalls(message['tool_calls']);
  message['tool_calls'] = calls.length === 0 ? undefined : calls.map((call, index) => ({ index, ...call }));
  return calls.length > 0;
}

/** Some backends send an empty `finish_reason` until they have one. */
function isUnset(reason: unknown): boolean {
  return reason === undefined || reason === null || reason === '';
}

/** A `finish_reason` of the contract. Whether there are tool calls is determined from the response itself. */
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

/** A `stop_reason` of the contract. Backends also use it for the stop sequence or the last token. */
function stopReason(value: unknown): 'stop' | 'length' | null {
  return value === 'stop' || value === 'length' ? value : null;
}

/** The index of a choice, if the backend sends a valid one. */
function choiceIndex(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : otherwise;
}
