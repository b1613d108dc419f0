import type { Problem } from '@svc/contracts';
import { type AnswerWriter, KEEP_ALIVE_FRAME } from '../http/answer-writer.js';
import type { AnswerForm } from './answer.js';
import type { AnswerHead } from './answer-head.js';
import { problemFrames } from './event-stream.js';
import type { AnswerNormaliser } from './normaliser.js';
import { StreamedForm } from './streamed-form.js';
import { WholeForm } from './whole-form.js';

/**
 * How an endpoint writes a completion to its client. Everything else about a completion is the same for all
 * endpoints. One that keeps state, such as the number of the next event, has an instance for each request.
 */
export interface ClientDialect {
  /** Writes a response as events. */
  streamed(client: AnswerWriter, normaliser: AnswerNormaliser, about: AnswerHead): AnswerForm;
  /** Writes a response as one document. */
  whole(client: AnswerWriter, normaliser: AnswerNormaliser, about: AnswerHead): AnswerForm;
  /** Ends a stream with an error. The writer of the response may already exist, or not yet. */
  problemFrames(problem: Problem): string;
  /** Sent while a stream is idle. */
  readonly keepAliveFrame: string;
}

/** The dialect of chat completions, which is also that of the backends' responses once normalised. */
export const chatDialect: ClientDialect = {
  streamed: (client, normaliser, about) => new StreamedForm(client, normaliser, about),
  whole: (client, normaliser, about) => new WholeForm(client, normaliser, about),
  problemFrames,
  keepAliveFrame: KEEP_ALIVE_FRAME,
};
