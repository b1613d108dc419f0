/** Events that become durable together: at once, or not at all. */
export class PublishBatch {
  readonly topics: string[] = [];
  readonly keys: string[] = [];
  readonly payloads: string[] = [];
  /** Of those whose trace is recorded, the step that published them; empty for the others. */
  readonly traceparents: string[] = [];
  chars = 0;
  readonly #settled = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #isSettled = false;

  /** Every waiter is refused after `deadlineMs`, the first one's deadline. */
  constructor(deadlineMs: number, onExpired: (batch: PublishBatch) => void) {
    this.#timer = setTimeout(() => onExpired(this), deadlineMs);
  }

  get size(): number {
    return this.topics.length;
  }

  /** One promise serves all events of the batch. */
  get stored(): Promise<void> {
    return this.#settled.promise;
  }

  add(topic: string, key: string, { payload, traceparent }: { payload: string; traceparent: string }): void {
    this.topics.push(topic);
    this.keys.push(key);
    this.payloads.push(payload);
    this.traceparents.push(traceparent);
    this.chars += payload.length;
  }

  /** Whether its waiters have been answered. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  resolve(): void {
    this.#settle();
    this.#settled.resolve();
  }

  reject(error: Error): void {
    this.#settle();
    this.#settled.reject(error);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#isSettled = true;
  }
}
