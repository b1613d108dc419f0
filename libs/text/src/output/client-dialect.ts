import type { Problem } from '@svc/contracts/problems';
import { type ResponseWriter, KEEP_ALIVE_FRAME } from '@svc/paid/http';
import type { ResponseEncoder } from './output-relay.js';
import type { CompletionHead } from './completion-head.js';
import { problemFrames } from './event-stream.js';
import type { OutputNormaliser } from './normaliser.js';
import { StreamEncoder } from './stream-encoder.js';
import { WholeEncoder } from './whole-encoder.js';

/**
 * How an endpoint writes a completion to its client. Everything else about a completion is the same for all
 * endpoints. One that keeps state, such as the number of the next event, has an instance for each request.
 */
export interface ClientDialect {
  /** Writes a response as events. */
  streamed(client: ResponseWriter, normaliser: OutputNormaliser, about: CompletionHead): ResponseEncoder;
  /** Writes a response as one document. */
  whole(client: ResponseWriter, normaliser: OutputNormaliser, about: CompletionHead): ResponseEncoder;
  /** Ends a stream with an error. The writer of the response may already exist, or not yet. */
  problemFrames(problem: Problem): string;
  /** Sent while a stream is idle. */
  readonly keepAliveFrame: string;
}

/** The dialect of chat completions, which is also that of the backends' responses once normalised. */
export const chatDialect: ClientDialect = {
  streamed: (client, normaliser, about) => new StreamEncoder(client, normaliser, about),
  whole: (client, normaliser, about) => new WholeEncoder(client, normaliser, about),
  problemFrames,
  keepAliveFrame: KEEP_ALIVE_FRAME,
};
