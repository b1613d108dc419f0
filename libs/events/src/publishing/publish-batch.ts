import type { EventDefinition } from '@svc/contracts/messages';

/** An event as stored. */
export interface WireEvent {
  readonly topic: string;
  readonly key: string;
  /** JSON. */
  readonly payload: string;
  /** The step that it came from, if not the current step. */
  readonly traceparent?: string | null;
  /** What the payload was made from, if this process made it. */
  readonly original?: Original | undefined;
}

/** A payload before it was serialized. */
export interface Original {
  readonly event: EventDefinition;
  readonly value: unknown;
}

/** Events that become durable together, all or none. */
export class PublishBatch {
  readonly topics: string[] = [];
  readonly keys: string[] = [];
  readonly payloads: string[] = [];
  /** The step that published each event, if its trace is recorded; otherwise empty. */
  readonly traceparents: string[] = [];
  readonly originals: (Original | undefined)[] = [];
  chars = 0;
  private readonly settled = Promise.withResolvers<void>();
  private readonly timer: NodeJS.Timeout;
  private hasEnded = false;

  /** All waiting calls are rejected after `deadlineMs`, the deadline of the first one. */
  constructor(deadlineMs: number, onExpired: (batch: PublishBatch) => void) {
    this.timer = setTimeout(() => onExpired(this), deadlineMs);
  }

  get size(): number {
    return this.topics.length;
  }

  /** One promise serves all events of the batch. */
  get stored(): Promise<void> {
    return this.settled.promise;
  }

  add({ topic, key, payload, original }: WireEvent, traceparent: string): void {
    this.topics.push(topic);
    this.keys.push(key);
    this.payloads.push(payload);
    this.traceparents.push(traceparent);
    this.originals.push(original);
    this.chars += payload.length;
  }

  /** Whether its callers have a result. */
  get isSettled(): boolean {
    return this.hasEnded;
  }

  resolve(): void {
    this.settle();
    this.settled.resolve();
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
