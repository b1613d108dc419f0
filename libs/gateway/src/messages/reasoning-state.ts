import { AssembledChoice, type ChoicePiece } from '../output/assembled-choice.js';
import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';

/** Marks a text as written here, since clients may send back the signatures of other services. */
const PREFIX = 'svc1.';

/** What a model needs to resume its reasoning, in the places where chat completions have it. */
export interface ReasoningState {
  readonly details: readonly Fields[];
  readonly thoughtSignature: string | undefined;
  /** `extra_content` of tool calls, by the id of the call. */
  readonly callExtras: Readonly<Record<string, Fields>>;
}

const NO_STATE: ReasoningState = { details: [], thoughtSignature: undefined, callExtras: {} };

/** The text in which a client keeps a state, as a signature or the data of a block. */
function sealed(state: ReasoningState): string {
  return PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** The state in a text that a client sent back; none in a text of another service. */
export function unsealed(text: string): ReasoningState {
  if (!text.startsWith(PREFIX)) return NO_STATE;
  try {
    const state: unknown = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString());
    if (!isFields(state)) return NO_STATE;
    const { details, thoughtSignature, callExtras } = state;
    return {
      details: fieldsOf(details),
      thoughtSignature: typeof thoughtSignature === 'string' ? thoughtSignature : undefined,
      callExtras: isFields(callExtras)
        ? Object.fromEntries(
            Object.entries(callExtras).filter((entry): entry is [string, Fields] => isFields(entry[1])),
          )
        : {},
    };
  } catch {
    return NO_STATE;
  }
}

/** Several states of one message as one. */
export function joinedStates(states: readonly ReasoningState[]): ReasoningState {
  return {
    details: states.flatMap(({ details }) => details),
    thoughtSignature: states.findLast(({ thoughtSignature }) => thoughtSignature !== undefined)
      ?.thoughtSignature,
    callExtras: Object.fromEntries(states.flatMap(({ callExtras }) => Object.entries(callExtras))),
  };
}

/** Collects the state from the pieces of a response. */
export class StateCollector {
  private parts = new AssembledChoice(0);
  private callExtras: Record<string, Fields> = {};
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
      if (callId !== undefined && isFields(extra)) this.callExtras[callId] = extra;
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
      Object.keys(state.callExtras).length > 0 ||
      state.details.some((detail) => isText(detail['signature']) || isText(detail['data']));
    if (!isSigned) return undefined;
    this.parts = new AssembledChoice(0);
    this.callExtras = {};
    return sealed(state);
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
