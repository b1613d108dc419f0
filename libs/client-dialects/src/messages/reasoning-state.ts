import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { SIGNATURE_CHARACTERS } from '@svc/api/chat';
import type { JsonReader } from '@svc/runtime';
import { AssembledChoice, type ChoicePiece } from '@svc/text/output';

/** Marks a text as written here, since clients may send back the signatures of other services. */
const PREFIX = 'svc1.';

/** Whether a text is a state that was written here. */
export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** What a model needs to resume its reasoning, in the places where chat completions have it. */
export interface ReasoningState {
  readonly details: readonly Fields[];
  readonly thoughtSignature: string | undefined;
  /** `extra_content` of tool calls, by the id of the call. */
  readonly callExtras: ReadonlyMap<string, Fields>;
}

const NO_STATE: ReasoningState = { details: [], thoughtSignature: undefined, callExtras: new Map() };

/**
 * The text in which a client keeps a state, as a signature or the data of a block. Undefined if it would be
 * longer than clients may send.
 */
function sealed({ callExtras, ...state }: ReasoningState): string | undefined {
  const json = JSON.stringify({ ...state, callExtras: Object.fromEntries(callExtras) });
  const text = PREFIX + Buffer.from(json).toString('base64url');
  return text.length > SIGNATURE_CHARACTERS ? undefined : text;
}

/**
 * The state in a text that a client sent back; none in a text of another service. A request has one reader
 * for all of its texts.
 */
export function unsealed(text: string, reader: JsonReader): ReasoningState {
  if (!isSealed(text)) return NO_STATE;
  let state: unknown;
  try {
    state = reader.read(Buffer.from(text.slice(PREFIX.length), 'base64url'));
  } catch {
    return NO_STATE;
  }
  if (!isFields(state)) return NO_STATE;
  const { details, thoughtSignature, callExtras } = state;
  return {
    details: fieldsOf(details),
    thoughtSignature: typeof thoughtSignature === 'string' ? thoughtSignature : undefined,
    callExtras: new Map(
      Object.entries(isFields(callExtras) ? callExtras : {}).filter((entry): entry is [string, Fields] =>
        isFields(entry[1]),
      ),
    ),
  };
}

/** Several states of one message as one. */
export function joinedStates(states: readonly ReasoningState[]): ReasoningState {
  return {
    details: states.flatMap(({ details }) => details),
    thoughtSignature: states.findLast(({ thoughtSignature }) => thoughtSignature !== undefined)
      ?.thoughtSignature,
    callExtras: new Map(states.flatMap(({ callExtras }) => [...callExtras])),
  };
}

/** Collects the state from the pieces of a response. */
export class StateCollector {
  private parts = new AssembledChoice(0);
  private callExtras = new Map<string, Fields>();
  /** The ids of calls, of which only the first fragment has one. */
  private readonly callIds = new Map<unknown, string>();

  add({ delta }: Pick<ChoicePiece, 'delta'>): void {
    const { reasoning_details: details, thought_signature: signature } = delta;
    if (details || signature)
      this.parts.add({
        index: 0,
        delta: { reasoning_details: details, thought_signature: signature },
        logprobs: null,
        finish_reason: null,
        stop_reason: undefined,
      });
    for (const { index, id, extra_content: extra } of fieldsOf(delta['tool_calls'])) {
      if (typeof id === 'string') this.callIds.set(index, id);
      const callId = this.callIds.get(index);
      if (callId !== undefined && isFields(extra)) this.callExtras.set(callId, extra);
    }
  }

  /**
   * The state since the last call, as a text for the client. Undefined if it consists only of reasoning that
   * nobody signed, which models do not need.
   */
  take(): string | undefined {
    const { reasoning_details: details, thought_signature: signature } = this.parts.whole().message;
    const state: ReasoningState = {
      details: fieldsOf(details),
      thoughtSignature: typeof signature === 'string' ? signature : undefined,
      callExtras: this.callExtras,
    };
    const isSigned =
      state.thoughtSignature !== undefined ||
      state.callExtras.size > 0 ||
      state.details.some((detail) => isText(detail['signature']) || isText(detail['data']));
    if (!isSigned) return undefined;
    this.parts = new AssembledChoice(0);
    this.callExtras = new Map();
    return sealed(state);
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
