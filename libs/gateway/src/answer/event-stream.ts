import { type Problem, errorBody } from '@svc/contracts';

/** The frames of server-sent events as clients get them. */
export const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

export const DONE_FRAME = 'data: [DONE]\n\n';

/** What ends a stream that can't be ended as its client wants it. */
export function problemFrames(problem: Problem): string {
  const { error } = errorBody(problem);
  const { retryAfterSeconds } = problem;
  return (
    frame({ error: retryAfterSeconds === undefined ? error : { ...error, retry_after: retryAfterSeconds } }) +
    DONE_FRAME
  );
}
