import { describe, expect, it } from 'vitest';
import { Problem } from './problem.js';
import { decodeProblem, encodeProblem } from './problem-wire.js';
import { PROBLEMS, type ProblemCode } from './problems.js';

const crossed = (error: unknown): Problem => decodeProblem(JSON.parse(JSON.stringify(encodeProblem(error))));

describe('a problem that crosses a wire', () => {
  it.each(Object.keys(PROBLEMS) as ProblemCode[])('is the same on the other side: %s', (code) => {
    const problem = new Problem(code);
    expect(crossed(problem)).toBeInstanceOf(Problem);
    expect({ ...crossed(problem) }).toEqual({ ...problem });
    expect(crossed(problem).message).toBe(problem.message);
  });

  it('keeps its message, field, issues and time to retry', () => {
    const problem = new Problem('INVALID_REQUEST', {
      message: 'no',
      param: 'a.0',
      issues: [{ code: 'custom', path: ['a', 0], message: 'wrong' }],
      retryAfterSeconds: 7,
    });
    expect({ ...crossed(problem), message: crossed(problem).message }).toEqual({ ...problem, message: 'no' });
  });

  it('leaves its cause behind, and reveals nothing of other errors', () => {
    expect(crossed(new Problem('UNAVAILABLE', { cause: new Error('secret') })).cause).toBeUndefined();
    expect(JSON.stringify(encodeProblem(new Error('secret')))).not.toContain('secret');
    expect(crossed(new Error('secret')).code).toBe('UNKNOWN_ERROR');
  });

  it.each([undefined, null, 'text', {}, { code: 'NO_SUCH_CODE', message: '', param: null }])(
    "is UNAVAILABLE if it can't be read: %j",
    (value) => {
      expect(decodeProblem(value)).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    },
  );
});
