import { ExchangeAborted } from '@svc/runtime';
import { SPAN_KIND, type Step, beginStep } from '@svc/telemetry';
import type { LiveBackend } from './backend-pool.js';
import type { Place } from './places.js';

/** A backend that is asked, as a step of the trace: from the call to the last byte of its answer. */
export function beginAttempt(
  { name }: LiveBackend,
  { model, number }: { model: string; number: number },
): Step | undefined {
  const step = beginStep(`chat ${model}`);
  if (!step) return undefined;
  step.kind = SPAN_KIND.client;
  step.set({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'svc',
    'gen_ai.request.model': model,
    'svc.backend': name,
    'svc.attempt': number,
  });
  return step;
}

/** Gives the backend's place back and ends the step, once the call has ended. */
export function ending({ giveBack }: Place, step: Step | undefined): (failure: Error | undefined) => void {
  return (failure) => {
    giveBack();
    if (!step) return;
    // Whoever lets a call go has read what it wanted.
    if (failure && !(failure instanceof ExchangeAborted)) step.fail(failure);
    else step.end();
  };
}
