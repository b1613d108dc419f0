import type { CallKind } from '@svc/contracts';
import { ExchangeAborted } from '@svc/runtime';
import { SPAN_KIND, type Step, beginStep, errorType, genAi, router } from '@svc/telemetry';
import type { Place } from './places.js';

/** What a call to a backend is for. */
interface AttemptedCall {
  readonly kind: CallKind | undefined;
  readonly model: string;
  readonly isStream: boolean;
  /** Which of the backends that are called for the request, from 1. */
  readonly number: number;
}

/** One call to a backend, measured from the request to the last byte of the response: a span and a duration. */
export class Attempt {
  private readonly startMs = performance.now();
  readonly step: Step | undefined;
  private error = '';

  constructor(
    private readonly place: Place,
    private readonly call: AttemptedCall,
  ) {
    const { kind = 'chat', model, isStream, number } = call;
    this.step = beginStep(`${kind} ${model}`);
    if (!this.step) return;
    this.step.kind = SPAN_KIND.client;
    this.step.set({
      ...genAi,
      'gen_ai.operation.name': kind,
      'gen_ai.request.model': model,
      // The convention wants it for streams only.
      'gen_ai.request.stream': isStream || undefined,
      'svc.backend': place.live.name,
      'svc.attempt': number,
    });
  }

  /** The backend has begun to respond. */
  began(): void {
    const { model, isStream } = this.call;
    this.step?.note('first chunk');
    if (!isStream) return;
    const seconds = this.seconds;
    this.step?.set({ 'gen_ai.response.time_to_first_chunk': seconds });
    router.firstChunk.with(model, this.place.live.name).record(seconds, this.step?.trace.measured);
  }

  /** The call has failed, and is about to end. */
  failed(error: unknown): void {
    this.error = errorType(error);
    this.step?.fail(error);
  }

  /** The call has ended. Gives the backend's place back. */
  ended(failure: Error | undefined): void {
    const { live, giveBack } = this.place;
    giveBack();
    // Whoever aborts a call has read what it wanted.
    if (failure && !(failure instanceof ExchangeAborted) && this.error === '') this.failed(failure);
    else this.step?.end();
    // The metric is one of chat.
    if (this.call.kind === 'embeddings') return;
    router.duration
      .with(this.call.model, live.name, this.error)
      .record(this.seconds, this.step?.trace.measured);
  }

  private get seconds(): number {
    return (performance.now() - this.startMs) / 1_000;
  }
}
