import { type MessagesRequest, messageError } from '@svc/api/messages';
import type { Problem } from '@svc/contracts/problems';
import { type ClientDialect, forStream } from '@svc/text/output';
import { namedFrame } from './block-events.js';
import { shapeOf } from './message-head.js';
import { PING_FRAME, StreamedMessage } from './streamed-message.js';
import { WholeMessage } from './whole-message.js';

/** How a completion is written for a client of Anthropic's Messages API. */
export function messageDialect(request: MessagesRequest, requestId: string): ClientDialect {
  const shape = shapeOf(request);
  const problemFrames = (problem: Problem): string =>
    namedFrame({ ...messageError(forStream(problem), requestId) });
  return {
    streamed: (writer, normaliser, about) =>
      new StreamedMessage({ writer, shape, problemFrames }, normaliser, about),
    whole: (writer, normaliser, about) => new WholeMessage({ writer, shape }, normaliser, about),
    problemFrames,
    keepAliveFrame: PING_FRAME,
  };
}
