import { hasFailed, isError, readChoiceEnd } from '@svc/contracts/messages';
import {
  type Fields,
  type Piece,
  type PieceEnd,
  type ReportedUsage,
  fieldsOf,
  isFields,
  unusable,
} from '@svc/contracts/inference';
import type { Problem } from '@svc/contracts/problems';
import { backendError, parseBackendJson } from './backend-json.js';
import { sentLogprobs, wrapLogprobs } from './logprobs.js';
import { TextPlaces, isTextParts } from './text-places.js';
import type { PieceReader } from './piece-reader.js';
import { ChunkRepetition } from './repeated-chunk.js';
import { ToolCallStream, adoptFunctionCall, wholeToolCalls } from './tool-calls.js';
import { readUsage } from './usage-reading.js';

/** The most choices in one response, equal to the highest `n` of a request. */
const CHOICES_LIMIT = 128;

/** The state of a choice so far. */
interface ChoiceState {
  begun: boolean;
  finished: boolean;
  calls: ToolCallStream | undefined;
  readonly texts: TextPlaces;
}

/**
 * Reads the responses of servers with OpenAI's API, whole or streamed. Some stream what was not asked for as
 * a stream, and the reverse. Texts and calls get to their places, whatever a server calls them.
 */
export class OpenAiReader implements PieceReader {
  received = 0;
  reported: ReportedUsage | undefined;
  withPromptLogprobs: string | undefined;
  promptTokenIds: readonly number[] | undefined;
  stoppedBy: string | undefined;
  unknownFinish: string | undefined;
  citedUrls: readonly string[] = [];
  private readonly choices = new Map<number, ChoiceState>();
  private repeated: ChunkRepetition | undefined;

  /** @param isEncrypted Whether the words of the backend about an error may be a plaintext. */
  constructor(private readonly isEncrypted: boolean) {}

  /** Made for streams only. */
  get repetitions(): ChunkRepetition {
    return (this.repeated ??= new ChunkRepetition(this));
  }

  get isFinished(): boolean {
    return this.choices.size > 0 && [...this.choices.values()].every((choice) => choice.finished);
  }

  /** Reads a body or the data of one event: choices with deltas, or with whole messages. */
  read(text: string): readonly Piece[] {
    this.received += text.length;
    const body = parseBackendJson(text);
    const choices = fieldsOf(body['choices']);
    const isDocument = choices.some(isWhole);
    if (isError(body['error']) && !isDocument) throw this.error(body['error']);
    if (body['object'] === 'error') throw this.error(body);
    this.reported = readUsage(body) ?? this.reported;
    if (isPresent(body['prompt_logprobs'])) this.withPromptLogprobs = text;
    this.promptTokenIds ??= tokenIdsIn(body['prompt_token_ids']);
    if (body['citations'] !== undefined) this.citedUrls = addressesIn(body['citations']);
    const pieces: Piece[] = [];
    for (const [position, choice] of choices.entries()) {
      const piece = this.readChoice(choice, isDocument ? position : undefined);
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  /**
   * Returns undefined once a choice has finished: the rest of it is dropped. Choices with whole messages have
   * a position.
   */
  private readChoice(choice: Fields, position?: number): Piece | undefined {
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
    adoptFunctionCall(delta);
    const end = this.endOf(choice['finish_reason']) ?? (whole ? 'stop' : null);
    if (whole) placeWholeCalls(delta, end !== 'stop');
    else placeCalls(state, delta);
    state.finished = end !== null;
    if (typeof choice['stop_reason'] === 'string') this.stoppedBy = choice['stop_reason'];
    return {
      index,
      delta,
      logprobs: this.isEncrypted ? sentLogprobs(choice['logprobs']) : wrapLogprobs(choice['logprobs']),
      end,
      stopReason: stopReason(choice['stop_reason']),
      tokenIds: tokenIdsIn(choice['token_ids']),
      isWhole: whole,
      parts: whole && isTextParts(given) ? given : undefined,
    };
  }

  /** How a choice ended; null while it continues. An unknown reason is taken for a normal end. */
  private endOf(value: unknown): PieceEnd | null {
    const read = readChoiceEnd(value);
    if (read.end === 'not yet') return null;
    if (read.end === 'unknown') this.unknownFinish ??= read.name;
    return read.end === 'unknown' || read.end === 'failure' ? 'stop' : read.end;
  }

  private error(error: unknown): Problem {
    return this.isEncrypted ? unusable('the backend reported an error') : backendError(error);
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    if (this.choices.size === CHOICES_LIMIT) throw unusable('the backend sends too many choices');
    const state = { begun: false, finished: false, calls: undefined, texts: new TextPlaces() };
    this.choices.set(index, state);
    return state;
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

/** Converts the tool calls of a delta. */
function placeCalls(state: ChoiceState, delta: Fields): void {
  const { tool_calls: fragments } = delta;
  if (fragments === undefined) return;
  const isEmpty = !Array.isArray(fragments) || fragments.length === 0;
  if (!isEmpty) state.calls ??= new ToolCallStream();
  delta['tool_calls'] = isEmpty ? undefined : state.calls?.shape(fragments);
}

/** The same for a whole message. */
function placeWholeCalls(message: Fields, isCut: boolean): void {
  const calls = wholeToolCalls(message['tool_calls'], isCut);
  message['tool_calls'] = calls.length === 0 ? undefined : calls.map((call, index) => ({ index, ...call }));
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

/** A `stop_reason` of the contract. Backends also use it for the stop sequence or the last token. */
function stopReason(value: unknown): 'stop' | 'length' | null | undefined {
  if (value === undefined) return undefined;
  return value === 'stop' || value === 'length' ? value : null;
}

/** The index of a choice, if the backend sends a valid one. */
function choiceIndex(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : otherwise;
}
