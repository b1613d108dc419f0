import type { Fields, Piece, PieceEnd, ResponseFacts } from '@svc/contracts/inference';
import { jsonMembers } from '@svc/paid/json';
import type { ThinkingPlan } from '../request/thinking-plan.js';
import { plainBytes } from '../tokens/ciphertext.js';
import { Meter } from '../tokens/meter.js';
import { CitationMarkers } from '../web/citation-markers.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import type { ChoicePiece, FinishReason } from './assembled-choice.js';
import { BareCalls } from './bare-calls.js';
import { requireCiphertext } from './encrypted-delta.js';
import { InternalTool } from './internal-tool.js';
import { removeReasoning } from './message-texts.js';
import { ThinkBlocks } from './think-blocks.js';
import { filterTokens } from './token-filter.js';

/** The state of a choice so far. */
interface ChoiceState {
  finished: boolean;
  calls: BareCalls | undefined;
  /** Removes reasoning from the text; undefined if it stays. */
  readonly blocks: ThinkBlocks | undefined;
  /** Keeps only citations with a source. */
  readonly markers: CitationMarkers | undefined;
  /** Hides an internal tool. */
  readonly tool: InternalTool | undefined;
}

export interface NormaliserOptions {
  /** What the backend says about the response. */
  readonly facts: ResponseFacts;
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
 * Makes what clients get of the pieces of a response, whatever its backend: one `finish_reason` per choice,
 * complete calls, reasoning removed if unwanted. The meter counts everything the backend generated, including
 * what is removed.
 */
export class OutputNormaliser {
  readonly meter: Meter;
  readonly facts: ResponseFacts;
  private readonly choices = new Map<number, ChoiceState>();

  /** Whether deltas keep their texts as they are. */
  readonly keepsTexts: boolean;

  constructor(private readonly how: NormaliserOptions) {
    const { thinking, sources, tool, isEncrypted } = how;
    this.facts = how.facts;
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

  /** The log probabilities of the prompt, as JSON, if there are any. */
  get promptLogprobs(): string | undefined {
    const { withPromptLogprobs: json } = this.facts;
    return json === undefined ? undefined : jsonMembers(json).get('prompt_logprobs');
  }

  /** Everything known about the size of the response. */
  get counts(): Pick<ResponseFacts, 'reported' | 'received'> & { readonly meter: Meter } {
    const { facts, meter } = this;
    // Ciphertexts are longer than what they say.
    return { reported: facts.reported, meter, received: this.how.isEncrypted ? meter.bytes : facts.received };
  }

  /** What the client gets of the pieces of an event. Refuses: E2EE_PLAINTEXT_FROM_BACKEND. */
  read(pieces: readonly Piece[]): ChoicePiece[] {
    const shown: ChoicePiece[] = [];
    for (const piece of pieces) {
      const each = this.readPiece(piece);
      if (each) shown.push(each);
    }
    return shown;
  }

  /** Whether the backend has sent any choices. */
  get hasChoices(): boolean {
    return this.choices.size > 0;
  }

  /** Sets the `finish_reason` of every choice that lacks one. */
  finish(reason: 'stop' | 'length'): ChoicePiece[] {
    if (this.choices.size === 0) this.stateOf(0);
    const pieces: ChoicePiece[] = [];
    for (const [index, { tool, finished: isFinished }] of this.choices) {
      if (isFinished && !tool?.call) continue;
      const piece = tool?.call
        ? { index, delta: {}, logprobs: null, finish_reason: reason, stop_reason: undefined }
        : this.readPiece({ ...NOTHING, index, delta: {}, end: reason });
      if (piece) pieces.push(piece);
    }
    return pieces;
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
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

  /** Returns undefined if the client gets nothing of it, as of a choice that has finished. */
  private readPiece(given: Piece): ChoicePiece | undefined {
    const { index, delta, isWhole } = given;
    const state = this.stateOf(index);
    if (state.finished) return given.original === undefined ? undefined : lastPart(given.original);
    if (given.parts !== undefined && !state.blocks && !state.markers) delta['content'] = given.parts;
    if (this.how.isEncrypted) requireCiphertext(delta, given.logprobs);
    const { tool_calls: calls } = delta;
    if (calls !== undefined) (state.calls ??= new BareCalls()).add(calls);
    this.meter.addMessage(delta, index);
    state.tool?.add(delta);
    const finish = given.end && finished(given.end, state.calls !== undefined);
    state.finished = finish !== null;
    if (finish === 'tool_calls') state.calls?.complete(delta);
    let { logprobs } = given;
    this.meter.addLogprobs(logprobs);
    if (state.blocks)
      logprobs = this.withoutReasoning(state.blocks, { delta, logprobs, isLast: state.finished, isWhole });
    if (state.markers) logprobs = cited(state.markers, { delta, logprobs, isLast: state.finished });
    const shaped = {
      index,
      delta,
      logprobs,
      finish_reason: finish,
      stop_reason: given.stopReason,
      ...(given.original !== undefined && { original: given.original }),
    };
    const piece = given.tokenIds ? this.withTokenIds(shaped, given.tokenIds, state) : shaped;
    return state.tool ? state.tool.shown(piece) : piece;
  }

  /** The ids of text that is left out would show it. */
  private withTokenIds(piece: ChoicePiece, ids: readonly number[], state: ChoiceState): ChoicePiece {
    if (state.blocks ?? state.markers ?? state.tool) return piece;
    this.meter.addTokenIds(ids.length);
    return { ...piece, token_ids: ids };
  }

  /** Removes reasoning from a delta in place. Returns the logprobs of the remaining text. */
  private withoutReasoning(
    blocks: ThinkBlocks,
    { delta, logprobs, isLast, isWhole }: ReasoningDelta & Pick<Piece, 'isWhole'>,
  ): ChoicePiece['logprobs'] {
    removeReasoning(delta);
    const text = typeof delta['content'] === 'string' ? delta['content'] : '';
    let { visible } = blocks.read(text);
    if (isLast) visible += blocks.end().visible;
    if (visible === text) return logprobs;
    delta['content'] = visible;
    // Logprobs include the tokens of reasoning. Only in a whole response can they be matched to the remaining
    // text.
    if (!logprobs || !isWhole) return logprobs && null;
    const tokens = new ThinkBlocks(this.how.thinking.startsInside);
    return filterTokens(logprobs, (token) => tokens.read(token).visible === token);
  }
}

/** An event after the end of a choice, which says nothing of it. */
const lastPart = (original: string): ChoicePiece => ({
  index: 0,
  delta: {},
  logprobs: null,
  finish_reason: null,
  stop_reason: undefined,
  original,
});

/** The rest of a piece that only ends its choice. */
const NOTHING = {
  logprobs: null,
  stopReason: undefined,
  tokenIds: undefined,
  isWhole: false,
  parts: undefined,
};

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

/** Whether there are tool calls is determined from the response itself. */
const finished = (end: PieceEnd, hasToolCalls: boolean): FinishReason =>
  end === 'stop' && hasToolCalls ? 'tool_calls' : end;
