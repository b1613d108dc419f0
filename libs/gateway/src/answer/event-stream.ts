import { Problem, errorBody } from '@svc/contracts';

/** The frames of server-sent events as clients get them. */
export const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

export const DONE_FRAME = 'data: [DONE]\n\n';

/** A problem in words for one who streams: nobody is told to do what they do. */
export function forStream(problem: Problem): Problem {
  if (problem.code !== 'REQUEST_TIMEOUT') return problem;
  const message = 'The request took too long to complete and was timed-out.';
  return new Problem('REQUEST_TIMEOUT', { message, cause: problem.cause });
}

/** What ends a stream that can't be ended as its client wants it. */
export function problemFrames(problem: Problem): string {
  const { error } = errorBody(forStream(problem));
  const { retryAfterSeconds } = problem;
  return (
    frame({ error: retryAfterSeconds === undefined ? error : { ...error, retry_after: retryAfterSeconds } }) +
    DONE_FRAME
  );
}
