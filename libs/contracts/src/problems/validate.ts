import type { z } from 'zod';
import { type Issue, Problem } from './problem.js';

/** The value as its schema reads it; refuses with the detailed INVALID_REQUEST that names every faulty field. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues);
}

interface RawIssue {
  readonly code?: string;
  readonly path?: readonly PropertyKey[];
  readonly message: string;
}

/** More would help nobody, and each is sent twice. */
const ISSUES_AT_MOST = 100;

/** The detailed error for the issues of a validator, the first hundred of them. */
export function invalidRequest(raw: readonly RawIssue[]): Problem {
  const issues = raw.slice(0, ISSUES_AT_MOST).map((issue): Issue => ({
    code: issue.code ?? 'custom',
    path: (issue.path ?? []).map((step) => (typeof step === 'number' ? step : String(step))),
    message: issue.message,
  }));
  const [first] = issues;
  const param = first?.path.join('.') || undefined;
  // Most clients print the message and nothing else, so it holds the first issue.
  const message = first && (param === undefined ? first.message : `${param}: ${first.message}`);
  return new Problem('INVALID_REQUEST', { issues, param, message });
}
