import { type CallKind, isMadeOnce } from '@svc/contracts/inference';
import { BackendError } from './backend-error.js';
import type { Refusal } from './backend-refusal.js';

/** The backend has given up, maybe after it had accepted the call. */
const TIMED_OUT = 408;

/** Whether the next backend is called after a failure of this one. */
export function goesElsewhere(kind: CallKind, error: unknown, refusal: Refusal): boolean {
  // Another backend would do the same again.
  if (isMadeOnce(kind)) return refusal.elsewhere && isRefusedWhole(error, refusal);
  // A node rejects reads that others can answer, and one that hangs leaves time for others.
  return kind === 'rpc' || refusal.elsewhere;
}

/** Whether a backend has certainly not accepted a job or a transaction. */
function isRefusedWhole(error: unknown, { problem }: Refusal): boolean {
  if (error instanceof BackendError && error.status < 500) return error.status !== TIMED_OUT;
  return problem.code === 'MODEL_OFFLINE' || problem.code === 'MODEL_AT_CAPACITY';
}

/**
 * Whether a backend that closed a kept connection is called once more, on a new one. A read of a blockchain
 * goes to another node instead, if there is one: nodes have nothing in memory that would favour the same.
 */
export const mayRepeat = (kind: CallKind, candidates: number): boolean =>
  !isMadeOnce(kind) && (kind !== 'rpc' || candidates === 1);

/** The outcome of a failed attempt, for metrics. */
export function outcomeOf({ elsewhere, cooldown }: Refusal, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  return elsewhere || cooldown !== 'nobody' ? 'failed' : 'refused';
}
