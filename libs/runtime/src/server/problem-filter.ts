import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { Problem, type ProblemCode } from '@svc/contracts/problems';
import type { Incoming, Outgoing } from '../http/incoming.js';
import { sendProblem } from '../http/send-problem.js';

/** Turns any thrown error into the error envelope. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(toProblem(error), http.getRequest<Incoming>(), http.getResponse<Outgoing>());
  }
}

/** Codes for errors that Fastify and Nest raise themselves. */
const BY_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: 'INVALID_REQUEST',
  404: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'INVALID_CONTENT_TYPE',
};

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = BY_STATUS[statusOf(error) ?? 500];
  return code ? new Problem(code, { cause: error }) : Problem.from(error);
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number')
    return error.statusCode;
  return undefined;
}
