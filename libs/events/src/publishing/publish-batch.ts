/** Events that become durable together, all or none. */
export class PublishBatch {
  readonly topics: string[] = [];
  readonly keys: string[] = [];
  readonly payloads: string[] = [];
  /** The step that published each event, if its trace is recorded; otherwise empty. */
  readonly traceparents: string[] = [];
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

  add(topic: string, key: string, { payload, traceparent }: { payload: string; traceparent: string }): void {
    this.topics.push(topic);
    this.keys.push(key);
    this.payloads.push(payload);
    this.traceparents.push(traceparent);
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
