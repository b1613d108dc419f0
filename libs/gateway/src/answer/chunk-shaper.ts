import type { Usage } from '@svc/contracts';
import {
  type Fields,
  type FinishReason,
  backendError,
  choiceIndex,
  fieldsOf,
  finishReason,
  isFields,
  parseBackendJson,
  stopReason,
} from '../json/backend-json.js';
import { wrapLogprobs } from './logprobs.js';
import { placeTexts } from './message-texts.js';
import { Meter } from '../tokens/meter.js';
import { ThinkBlocks } from './think-blocks.js';
import type { ThinkingPlan } from '../request/thinking-plan.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { ToolCallStream, adoptFunctionCall } from './tool-calls.js';
import { readUsage } from './usage-reading.js';

/** A choice as far as it has come. */
interface ChoiceState {
  started: boolean;
  finished: boolean;
  calls: ToolCallStream | undefined;
  /** Takes thoughts out of the text; absent where they stay. */
  readonly blocks: ThinkBlocks | undefined;
}

/** What a stream is called, and what is done about the thoughts in it. */
export interface StreamShape {
  readonly id: string;
  readonly model: string;
  readonly thinking: Pick<ThinkingPlan, 'strip' | 'startsInside'>;
  readonly tokenizer?: Tokenizer | undefined;
}

/**
 * Turns a backend's chunks into ours: one id, one creation time, the catalogue's model id, a role in each choice's
 * first delta, one `finish_reason` per choice, usage only in the last chunk. The meter counts what the backend
 * generated, stripped or not.
 */
export class ChunkShaper {
  readonly meter: Meter;
  private reported: Usage | undefined;
  private readonly head: Fields;
  /** The text of a frame up to its choices. */
  private readonly frameStart: string;
  private readonly choices = new Map<number, ChoiceState>();

  constructor(private readonly shaping: StreamShape) {
    const { id, model, tokenizer } = shaping;
    this.meter = new Meter(tokenizer);
    this.head = { id, object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1_000), model };
    this.frameStart = `data: ${JSON.stringify(this.head).slice(0, -1)},"choices":`;
  }

  /** What the backend counted, once it has. */
  get usage(): Usage | undefined {
    return this.reported;
  }

  /** An event's data as a frame; empty when nothing is left of it. Throws what the backend reports as an error. */
  shape(event: string): string {
    const chunk = parseBackendJson(event);
    if (chunk['error']) throw backendError(chunk['error']);
    if (chunk['object'] === 'error') throw backendError(chunk);
    this.reported = readUsage(chunk['usage']) ?? this.reported;
    const { choices } = chunk;
    if (!Array.isArray(choices)) return '';
    const shaped: Fields[] = [];
    for (const choice of fieldsOf(choices)) {
      const ours = this.shapeChoice(choice);
      if (ours) shaped.push(ours);
    }
    return shaped.length === 0 ? '' : this.frame(shaped);
  }

  /** Frames that give every choice that has none its `finish_reason`. */
  finish(reason: 'stop' | 'length'): string {
    if (this.choices.size === 0) this.stateOf(0);
    let frames = '';
    for (const index of this.choices.keys()) {
      const finish = this.shapeChoice({ index, logprobs: null, finish_reason: reason });
      if (finish) frames += this.frame([finish]);
    }
    return frames;
  }

  /** The chunk that carries usage and cost. */
  last(members: Fields): Fields {
    return { ...this.head, choices: [], ...members };
  }

  private frame(choices: readonly Fields[]): string {
    return `${this.frameStart}${JSON.stringify(choices)}}\n\n`;
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    const { strip, startsInside } = this.shaping.thinking;
    const blocks = strip ? new ThinkBlocks(startsInside) : undefined;
    const state = { started: false, finished: false, calls: undefined, blocks };
    this.choices.set(index, state);
    return state;
  }

  /** `undefined` when nothing is left of it. Once a choice has finished, nothing more of it is passed on. */
  private shapeChoice(choice: Fields): Fields | undefined {
    const index = choiceIndex(choice['index'], 0);
    const state = this.stateOf(index);
    if (state.finished) return undefined;
    const delta = isFields(choice['delta']) ? choice['delta'] : {};
    placeTexts(delta);
    shapeCalls(state, delta);
    this.meter.addMessage(delta, index);
    let logprobs = wrapLogprobs(choice['logprobs']);
    const reason = finishOf(state, choice['finish_reason']);
    const isFirst = !state.started;
    if (state.blocks) {
      const isWhole = stripThoughts(state.blocks, delta, reason !== null);
      // They are the tokens of the text, thoughts included.
      if (!isWhole && logprobs) logprobs = null;
    }
    setRole(state, delta);
    if (state.blocks && !isFirst && reason === null && saysNothing(delta)) return undefined;
    const { stop_reason: stop } = choice;
    const stopped = stop === undefined ? undefined : stopReason(stop);
    return { index, delta, logprobs, finish_reason: reason, stop_reason: stopped };
  }
}

function shapeCalls(state: ChoiceState, delta: Fields): void {
  adoptFunctionCall(delta);
  const { tool_calls: fragments } = delta;
  if (fragments === undefined) return;
  const isEmpty = !Array.isArray(fragments) || fragments.length === 0;
  if (!isEmpty) state.calls ??= new ToolCallStream();
  delta['tool_calls'] = isEmpty ? undefined : state.calls?.shape(fragments);
}

/** Takes thoughts out of a delta. Whether its text is what it was. */
function stripThoughts(blocks: ThinkBlocks, delta: Fields, isLast: boolean): boolean {
  delta['reasoning_content'] = undefined;
  const text = typeof delta['content'] === 'string' ? delta['content'] : '';
  let { visible } = blocks.read(text);
  if (isLast) visible += blocks.end().visible;
  if (visible !== text) delta['content'] = visible;
  return visible === text;
}

function saysNothing(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}

/** A role stands in the first delta and in no other. */
function setRole(state: ChoiceState, delta: Fields): void {
  if (!state.started) {
    if (saysNothing({ ...delta, role: undefined })) delta['content'] = '';
    delta['role'] = 'assistant';
    state.started = true;
  } else if (delta['role'] !== undefined) delta['role'] = undefined;
}

/** The `finish_reason` of a choice, `null` while it goes on; some backends say an empty one until then. */
function finishOf(state: ChoiceState, reason: unknown): FinishReason | null {
  if (reason === undefined || reason === null || reason === '') return null;
  state.finished = true;
  return finishReason(reason, state.calls !== undefined);
}
