import { Problem, errorBody } from '@svc/contracts/problems';

/** Formats data as a server-sent event. */
export const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

export const DONE_FRAME = 'data: [DONE]\n\n';

/** A problem reworded for streaming clients: its usual message would advise them to stream. */
export function forStream(problem: Problem): Problem {
  if (problem.code !== 'REQUEST_TIMEOUT') return problem;
  const message = 'The request took too long to complete and was timed-out.';
  return new Problem('REQUEST_TIMEOUT', { message, cause: problem.cause });
}

/** An error in a stream, as OpenAI's clients read it. */
export function streamError(problem: Problem): ReturnType<typeof errorBody>['error'] {
  const { error } = errorBody(forStream(problem));
  const { retryAfterSeconds } = problem;
  return retryAfterSeconds === undefined ? error : { ...error, retry_after: retryAfterSeconds };
}

/** Ends a stream with an error. */
export function problemFrames(problem: Problem): string {
  return frame({ error: streamError(problem) }) + DONE_FRAME;
}
