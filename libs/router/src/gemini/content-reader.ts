import { randomBytes } from 'node:crypto';
import { readChoiceEnd } from '@svc/contracts/messages';
import {
  type Fields,
  type Piece,
  type PieceEnd,
  type ReportedUsage,
  fieldsOf,
  isFields,
  unusable,
} from '@svc/contracts/inference';
import { backendError, parseBackendJson, textIn } from '../chat/backend-json.js';
import { PLAIN_PIECE, type PieceReader } from '../chat/piece-reader.js';
import { count } from '../chat/usage-reading.js';

/** The most candidates in one response, and the most calls in one of them. */
const CANDIDATES_LIMIT = 128;
const CALLS_LIMIT = 1_024;

interface CandidateState {
  calls: number;
  isFinished: boolean;
}

/** Reads the responses of the Gemini API: an event of a stream has the form of a whole response. */
export class ContentReader implements PieceReader {
  readonly repetitions = undefined;
  readonly withPromptLogprobs = undefined;
  readonly promptTokenIds = undefined;
  readonly stoppedBy = undefined;
  readonly citedUrls: readonly string[] = [];
  received = 0;
  reported: ReportedUsage | undefined;
  unknownFinish: string | undefined;
  private readonly candidates = new Map<number, CandidateState>();

  get isFinished(): boolean {
    return this.candidates.size > 0 && [...this.candidates.values()].every((each) => each.isFinished);
  }

  read(text: string): readonly Piece[] {
    this.received += text.length;
    const body = parseBackendJson(text);
    if (isFields(body['error'])) {
      const { status, code } = body['error'];
      throw backendError({ type: textIn(status).toLowerCase(), code });
    }
    this.reported = usageIn(body['usageMetadata']) ?? this.reported;
    const { promptFeedback: feedback } = body;
    if (isFields(feedback) && feedback['blockReason'] !== undefined) return [this.blocked()];
    return fieldsOf(body['candidates']).flatMap((candidate) => this.pieceOf(candidate) ?? []);
  }

  /** The prompt violates a policy: nothing is made for it. */
  private blocked(): Piece {
    this.stateOf(0).isFinished = true;
    return { ...PLAIN_PIECE, index: 0, delta: { role: 'assistant' }, end: 'content_filter' };
  }

  private pieceOf({ index: given, content, finishReason }: Fields): Piece | undefined {
    const index = count(given);
    const state = this.stateOf(index);
    if (state.isFinished) return undefined;
    const end = this.endOf(finishReason);
    state.isFinished = end !== null;
    const parts = isFields(content) ? fieldsOf(content['parts']) : [];
    return { ...PLAIN_PIECE, index, delta: deltaOf(parts, state), end };
  }

  private endOf(value: unknown): PieceEnd | null {
    const read = readChoiceEnd(value);
    if (read.end === 'not yet') return null;
    if (read.end === 'failure') throw backendError({ type: textIn(value).toLowerCase() });
    if (read.end === 'unknown') this.unknownFinish ??= read.name;
    return read.end === 'unknown' ? 'stop' : read.end;
  }

  private stateOf(index: number): CandidateState {
    const known = this.candidates.get(index);
    if (known) return known;
    if (this.candidates.size === CANDIDATES_LIMIT) throw unusable('the backend sends too many candidates');
    const state = { calls: 0, isFinished: false };
    this.candidates.set(index, state);
    return state;
  }
}

/** What the parts of a candidate say. A call is always whole. */
function deltaOf(parts: readonly Fields[], state: CandidateState): Fields {
  let [content, reasoning, signature] = ['', '', ''];
  const calls: Fields[] = [];
  for (const part of parts) {
    const { text, thought, functionCall: call, thoughtSignature: signed } = part;
    if (isFields(call)) calls.push(callOf(call, state, signed));
    else if (typeof signed === 'string') signature = signed;
    if (thought === true) reasoning += textIn(text);
    else content += textIn(text);
  }
  return {
    role: 'assistant',
    ...(content !== '' && { content }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(signature !== '' && { thought_signature: signature }),
  };
}

/** The model's signature stays with its call, as Google's own API with OpenAI's form has it. */
function callOf({ id, name, args }: Fields, state: CandidateState, signed: unknown): Fields {
  if (state.calls === CALLS_LIMIT) throw unusable('the backend makes too many calls');
  return {
    index: state.calls++,
    id: textIn(id) || `call_${randomBytes(12).toString('hex')}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
    ...(typeof signed === 'string' && { extra_content: { google: { thought_signature: signed } } }),
  };
}

/** Cached tokens are within the prompt; reasoning is beside the candidates. */
function usageIn(usage: unknown): ReportedUsage | undefined {
  if (!isFields(usage) || !('promptTokenCount' in usage)) return undefined;
  const reasoningTokens = count(usage['thoughtsTokenCount']);
  return {
    promptTokens: count(usage['promptTokenCount']) + count(usage['toolUsePromptTokenCount']),
    completionTokens: count(usage['candidatesTokenCount']) + reasoningTokens,
    cachedTokens: count(usage['cachedContentTokenCount']),
    cacheWriteTokens: 0,
    reasoningTokens,
  };
}
