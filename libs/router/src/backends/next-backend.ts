import { type CallKind, type InferenceCall, isMadeOnce } from '@svc/contracts';
import type { LiveBackend } from './backend-pool.js';
import type { Refusal } from './backend-refusal.js';
import { isRefusedWhole } from './job-calls.js';

/** Whether the caller allows this backend. */
export const mayBeCalled = (
  { name }: LiveBackend,
  { backend = name, exceptBackend }: InferenceCall,
): boolean => name === backend && name !== exceptBackend;

/** Whether the next backend is called after a failure of this one. */
export function goesElsewhere(kind: CallKind, error: unknown, refusal: Refusal): boolean {
  // Another backend would do the same again.
  if (isMadeOnce(kind)) return refusal.elsewhere && isRefusedWhole(error, refusal);
  // A node rejects reads that others can answer, and one that hangs leaves time for others.
  return kind === 'rpc' || refusal.elsewhere;
}
