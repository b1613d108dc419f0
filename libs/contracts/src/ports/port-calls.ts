import { z } from 'zod';
import { decodeProblem } from '../problems/problem-wire.js';
import { type MethodWire } from './port-wire.js';

/** The most calls of a port in one batch. */
export const CALLS_AT_ONCE = 256;

/** A batch of calls of a port's methods. */
export const PortCalls = z.object({
  calls: z
    .array(
      z.object({
        method: z.string().max(50),
        arguments: z.array(z.unknown()).max(10),
        /** The calling step in W3C Trace Context format, since calls of many traces share a batch. */
        traceparent: z.string().max(512).optional(),
      }),
    )
    .min(1)
    .max(CALLS_AT_ONCE),
});
export type PortCalls = z.infer<typeof PortCalls>;

/**
 * Reads the result of a call: `{ at, value }` or `{ at, problem }`, with the index of the call in its batch.
 * The response to `PortCalls` has such a line for each call, in the order in which they end, so that none
 * waits for another. Throws the problem that the other process reported.
 */
export function readPortResult(reply: unknown, { result }: MethodWire<never, unknown>): unknown {
  const { value, problem } = reply as { value?: unknown; problem?: unknown };
  if (problem !== undefined) throw decodeProblem(problem);
  return z.decode(result, value);
}
