import type { Dispatcher } from 'undici';
import type { PassingSet } from '../passing.js';
import type { PlainRequest } from './plain-connection.js';

/** A request that waits for a connection. It leaves the queue when it is aborted, without a report. */
export class WaitingRequest implements Dispatcher.DispatchController {
  aborted = false;
  readonly paused = false;
  reason: Error | null = null;

  constructor(
    readonly request: PlainRequest,
    private readonly queue: PassingSet<WaitingRequest>,
  ) {}

  begin(): void {
    this.queue.add(this);
    this.request.handler.onRequestStart?.(this, {});
  }

  leave(): void {
    this.queue.delete(this);
  }

  fail(error: Error): void {
    this.leave();
    this.request.handler.onResponseError?.(this, error);
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.leave();
  }

  pause(): void {
    // Nothing arrives yet.
  }

  resume(): void {
    // Nothing was paused.
  }
}
