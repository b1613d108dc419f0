import type { Usage } from '../messages/usage.js';
import { Problem } from '../problems/problem.js';

/** An object of JSON. */
export type Fields = Record<string, unknown>;

/** Whether a value is an object with members. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects in an array; empty if the value is not an array. */
export function fieldsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

/** The error for an unusable response of a backend. */
export function unusable(why: string): Problem {
  return new Problem('INFERENCE_FAILED', { cause: new Error(why) });
}

/** The members other than `reasoning_content` in which servers send reasoning as a text. */
export const REASONING_NAMES = ['reasoning', 'reasoning_text', 'thinking', 'thought'] as const;

/**
 * Lists of entries that clients send back, so that a model can resume its reasoning. They are passed on. Some
 * servers send the reasoning only there, others in a text as well.
 */
export const REASONING_LISTS = ['reasoning_details', 'thinking_blocks'] as const;

/** How a choice ended, whatever its backend calls that. */
export type PieceEnd = 'stop' | 'length' | 'content_filter';

/**
 * What one event of a backend says of one choice, in the same form for all dialects of backends. The delta
 * is the reader's to change. Its members:
 *
 * - `content`, `reasoning_content` and `refusal`: the next part of a text;
 * - `tool_calls`: the next parts of calls. `index` counts them from 0; the first part of a call has its `id`
 *   and `type`. A function's name is sent once, its arguments are the next part of a JSON text;
 * - `reasoning_details`, `thinking_blocks` and `thought_signature`: what the model needs to resume its
 *   reasoning, signatures included. Clients send it back;
 * - any others: what only some backends say. Clients of chat completions get it as it is.
 */
export interface Piece {
  /** The number of the choice. */
  readonly index: number;
  readonly delta: Fields;
  /** `{content, refusal}`: a list of tokens each, or null. */
  readonly logprobs: Fields | null | undefined;
  /** Null while the choice continues. */
  readonly end: PieceEnd | null;
  readonly stopReason: 'stop' | 'length' | null | undefined;
  readonly tokenIds: readonly number[] | undefined;
  /** Whether the delta is a whole message. */
  readonly isWhole: boolean;
  /** For a whole message: its content as a list of parts of text, if it came as one. */
  readonly parts: unknown;
  /** For a response to an original request: the text of the event, on the first of its pieces. */
  readonly original?: string;
}

/** A backend's own counts: cached tokens are within the prompt, and reasoning is within the output. */
export interface ReportedUsage extends Usage {
  /** Tokens of reasoning that its total confirms, beside those of its output. */
  readonly confirmedReasoning?: number;
}

/** What a backend has said so far about a response as a whole. */
export interface ResponseFacts {
  /** Whether a backend responds to the request as its client wrote it. Its pieces have their events then. */
  readonly isOriginal?: boolean;
  /** Characters received from the backend; a lower bound for the bytes. */
  readonly received: number;
  /** The backend's own token counts, if reported. */
  readonly reported: ReportedUsage | undefined;
  /**
   * The text of a JSON object with `prompt_logprobs`. As text: its members are token ids, and their order is
   * that of their probabilities.
   */
  readonly withPromptLogprobs: string | undefined;
  /** The ids of the prompt's tokens, if they were requested. */
  readonly promptTokenIds: readonly number[] | undefined;
  /** What a backend reports as the reason for the end, such as a stop sequence. */
  readonly stoppedBy: string | undefined;
  /** A finish reason that no interface is known to have, which was taken for a stop. */
  readonly unknownFinish: string | undefined;
  /** Addresses cited by a backend that searches by itself. */
  readonly citedUrls: readonly string[];
}

/** What was written to a client for a piece, before and after its text. */
export type AroundText = readonly [before: string, after: string];

/** A piece of which later ones differ only in their text. */
export interface RepeatedPiece {
  readonly kind: 'content' | 'reasoning';
  readonly choice: number;
  readonly written: AroundText;
}

/** An event that repeats an earlier piece, and its own text. */
export interface Repetition {
  readonly repeated: RepeatedPiece;
  readonly value: string;
  /** The text as it is written in JSON, between quotes. */
  readonly json: string;
}

/** A piece as it was written to a client. */
export interface WrittenPiece extends Pick<Piece, 'index' | 'delta' | 'logprobs'> {
  readonly finish_reason: string | null;
}

/**
 * What was written around a text of a piece, which is in this member of its delta. Undefined if later pieces
 * must not be written in the same way.
 */
export type WrittenAround = (
  piece: WrittenPiece,
  member: 'content' | 'reasoning_content',
) => AroundText | undefined;

/**
 * The events of most streams differ only in one text. Once one has been read and written, those that differ
 * from it only in that text need neither: no piece is made of them.
 */
export interface Repetitions {
  /** The earlier piece and the new text, if nothing else is new. The event counts as read then. */
  read(event: string): Repetition | undefined;
  /** Learns from an event that is no repetition, and the pieces that were written for it. */
  learn(event: string, written: readonly WrittenPiece[], around: WrittenAround): void;
}
