import { z } from 'zod';
import { ProblemOnWire, decodeProblem } from '../problems/problem-wire.js';
import { type MethodWire } from './port-wire.js';

/** The most calls of a port that go to its process at once. */
export const CALLS_AT_ONCE = 256;

/** Calls of a port's methods that were made together. */
export const PortCalls = z.object({
  calls: z
    .array(
      z.object({
        method: z.string().max(50),
        arguments: z.array(z.unknown()).max(10),
        /** The step that asks, as W3C Trace Context writes it: calls of many traces go together. */
        traceparent: z.string().max(512).optional(),
      }),
    )
    .min(1)
    .max(CALLS_AT_ONCE),
});
export type PortCalls = z.infer<typeof PortCalls>;

/**
 * What became of the call at a place, counted from 0. An answer to `PortCalls` is a line of this for each call, in the
 * order in which they end, so that none waits for another.
 */
export const PortResult = z.union([
  z.object({ at: z.int().nonnegative(), value: z.unknown() }),
  z.object({ at: z.int().nonnegative(), problem: ProblemOnWire }),
]);

/** The result of a call as it was told. Throws the problem that its process met. */
export function readPortResult(told: unknown, { result }: MethodWire<never, unknown>): unknown {
  const { value, problem } = told as { value?: unknown; problem?: unknown };
  if (problem !== undefined) throw decodeProblem(problem);
  return z.decode(result, value);
}
