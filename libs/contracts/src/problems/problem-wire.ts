import { z } from 'zod';
import { Problem } from './problem.js';
import { PROBLEMS, type ProblemCode } from './problems.js';

const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

/** A problem on the wire between two processes. Its cause stays behind: it is for the logs there. */
export const ProblemOnWire = z.object({
  code: z.enum(codes),
  message: z.string(),
  param: z.string().nullable(),
  issues: z
    .array(
      z.object({
        code: z.string(),
        path: z.array(z.union([z.string(), z.number()])),
        message: z.string(),
      }),
    )
    .optional(),
  retryAfterSeconds: z.number().optional(),
  isProvisional: z.boolean().optional(),
  isFiltered: z.boolean().optional(),
});
export type ProblemOnWire = z.infer<typeof ProblemOnWire>;

/**
 * Any thrown error, ready for JSON. Anything but a problem becomes UNKNOWN_ERROR, without further details.
 */
export function encodeProblem(error: unknown): ProblemOnWire {
  const { code, message, param, issues, retryAfterSeconds, isProvisional, isFiltered } = Problem.from(error);
  return {
    code,
    message,
    param,
    ...(issues && { issues: issues.map((issue) => ({ ...issue, path: [...issue.path] })) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(isProvisional && { isProvisional }),
    ...(isFiltered && { isFiltered }),
  };
}

/**
 * The problem that another process reported. An unreadable one is UNAVAILABLE: its outcome there is unknown.
 */
export function decodeProblem(value: unknown): Problem {
  const read = ProblemOnWire.safeParse(value);
  if (!read.success) return new Problem('UNAVAILABLE', { cause: read.error });
  const { code, param, ...details } = read.data;
  return new Problem(code, { ...details, ...(param !== null && { param }) });
}
