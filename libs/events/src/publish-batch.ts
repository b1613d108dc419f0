/** Events that become durable together: at once, or not at all. */
export class PublishBatch {
  readonly topics: string[] = [];
  readonly keys: string[] = [];
  readonly payloads: string[] = [];
  chars = 0;
  readonly #settled = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;

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

  add(topic: string, key: string, payload: string): void {
    this.topics.push(topic);
    this.keys.push(key);
    this.payloads.push(payload);
    this.chars += payload.length;
  }

  resolve(): void {
    clearTimeout(this.#timer);
    this.#settled.resolve();
  }

  reject(error: Error): void {
    clearTimeout(this.#timer);
    this.#settled.reject(error);
  }
}
