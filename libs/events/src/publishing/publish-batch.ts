import type { EventDefinition } from '@svc/contracts/messages';

/** An event as stored. */
export interface WireEvent {
  readonly topic: string;
  readonly key: string;
  /** JSON. */
  readonly payload: string;
  /** The step that published it, if its trace is recorded. */
  readonly traceparent?: string | null;
}

/** An event on its way into the log. What this process has stored reaches its own consumers as it is. */
export interface PublishedEvent {
  readonly topic: string;
  readonly key: string;
  /** JSON; empty once it is stored, if `original` has the value. */
  payload: string;
  traceparent: string | null;
  /** What the payload was made from, and as which event; absent if it was published as JSON. */
  readonly original: EventDefinition | undefined;
  readonly value: unknown;
}

/** Events that become durable together, all or none. */
export class PublishBatch {
  readonly events: PublishedEvent[] = [];
  chars = 0;
  private readonly settled = Promise.withResolvers<void>();
  private readonly timer: NodeJS.Timeout;
  private hasEnded = false;

  /** All waiting calls are rejected after `deadlineMs`, the deadline of the first one. */
  constructor(deadlineMs: number, onExpired: (batch: PublishBatch) => void) {
    this.timer = setTimeout(() => onExpired(this), deadlineMs);
  }

  get size(): number {
    return this.events.length;
  }

  /** One promise serves all events of the batch. */
  get stored(): Promise<void> {
    return this.settled.promise;
  }

  add(event: PublishedEvent): void {
    this.events.push(event);
    this.chars += event.payload.length;
  }

  /** Whether its callers have a result. */
  get isSettled(): boolean {
    return this.hasEnded;
  }

  resolve(): void {
    this.settle();
    this.settled.resolve();
    for (const event of this.events) if (event.original) event.payload = '';
  }

  reject(error: Error): void {
    this.settle();
    this.settled.reject(error);
  }

  private settle(): void {
    clearTimeout(this.timer);
    this.hasEnded = true;
  }
}
