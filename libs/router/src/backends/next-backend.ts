import { type CallKind, type WireCall, isMadeOnce } from '@svc/contracts/inference';
import type { LiveBackend } from './backend-pool.js';
import type { Refusal } from './backend-refusal.js';
import { isRefusedWhole } from './job-calls.js';

/** Whether the caller allows this backend. */
export const mayBeCalled = (
  { name }: LiveBackend,
  { backend = name, exceptBackend }: Pick<WireCall, 'backend' | 'exceptBackend'>,
): boolean => name === backend && name !== exceptBackend;

/** Whether the next backend is called after a failure of this one. */
export function goesElsewhere(kind: CallKind, error: unknown, refusal: Refusal): boolean {
  // Another backend would do the same again.
  if (isMadeOnce(kind)) return refusal.elsewhere && isRefusedWhole(error, refusal);
  // A node rejects reads that others can answer, and one that hangs leaves time for others.
  return kind === 'rpc' || refusal.elsewhere;
}

/**
 * Whether a backend that closed a kept connection is called once more, on a new one. A read of a blockchain
 * goes to another node instead, if there is one: nodes have nothing in memory that would favour the same.
 */
export const mayRepeat = (kind: CallKind, candidates: readonly LiveBackend[]): boolean =>
  !isMadeOnce(kind) && (kind !== 'rpc' || candidates.length === 1);

/** The outcome of a failed attempt, for metrics. */
export function outcomeOf({ elsewhere, cooldown }: Refusal, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  return elsewhere || cooldown !== 'nobody' ? 'failed' : 'refused';
}
