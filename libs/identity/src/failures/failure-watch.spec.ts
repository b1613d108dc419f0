import { PROBLEMS, Problem, type ProblemCode } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { isFailure } from './failure-watch.js';

const codes = Object.keys(PROBLEMS) as ProblemCode[];

/** A failed request of a known caller. */
const answered = (code: ProblemCode | undefined, destroyed = false): Parameters<typeof isFailure>[0] => ({
  record: { startedMs: 0, ...(code && { problem: new Problem(code) }) },
  caller: { accountId: 'a', keyId: 'k' } as never,
  raw: { socket: { destroyed } },
});

const counted = (destroyed: boolean): ProblemCode[] =>
  codes.filter((code) => isFailure(answered(code, destroyed), PROBLEMS[code].status));

/** The service's own failures, and requested retries. */
const OURS = ['MODEL_OFFLINE', 'MODEL_AT_CAPACITY', 'UNAVAILABLE', 'REQUEST_TIMEOUT'];
const RETRIES = ['PAYMENT_IN_PROGRESS', 'REQUEST_IN_PROGRESS'];

describe('a failed response', () => {
  it('counts for its caller unless the service failed, wants a retry or applies a limit', () => {
    const not = codes.filter((code) => !counted(false).includes(code) && PROBLEMS[code].status !== 429);
    expect(not.toSorted()).toEqual([...OURS, ...RETRIES].toSorted());
  });

  it.each([502, 503, 504])(
    'counts if %d is not an error of this service: a request can cause such a status',
    (status) => {
      expect(isFailure(answered(undefined), status)).toBe(true);
    },
  );

  it('does not count if the request failed because its client disconnected', () => {
    expect(counted(true)).not.toContain('INFERENCE_FAILED');
    expect(counted(true)).not.toContain('REQUEST_INCOMPLETE');
  });

  it('counts although the client has disconnected if the request was wrong', () => {
    const isWrong = (code: ProblemCode): boolean =>
      PROBLEMS[code].status < 500 && code !== 'REQUEST_INCOMPLETE';
    expect(counted(true)).toEqual(counted(false).filter(isWrong));
    expect(counted(true)).toContain('AUTHENTICATION_FAILED');
  });
});
