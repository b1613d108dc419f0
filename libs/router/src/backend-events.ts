import { Problem } from '@svc/contracts';
import { failureOf, refusalOf } from './backend-refusal.js';
import type { Exchange } from './exchange.js';
import { ServerSentEvents } from './server-sent-events.js';

const DONE = '[DONE]';

/** The events of a streamed answer, read as fast as they are asked for. */
export class BackendEvents implements AsyncIterable<readonly string[]>, AsyncIterator<readonly string[]> {
  private readonly parser = new ServerSentEvents();
  private first: readonly string[] | undefined;
  private done = false;

  constructor(private readonly exchange: Exchange) {}

  /** Waits for the first event, so that a backend that fails before it is refused and not streamed. */
  async begin(): Promise<void> {
    this.first = await this.arrived();
    const [event] = this.first;
    if (event === undefined)
      throw new Problem('INFERENCE_FAILED', { cause: new Error('the stream was empty') });
    if (event.startsWith('{"error"')) throw refusalOf(errorStatus(event), event, undefined).problem;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly string[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly string[]>> {
    const { first } = this;
    this.first = undefined;
    try {
      const value = first ?? (await this.arrived());
      return value.length > 0 ? { value, done: false } : { value: undefined, done: true };
    } catch (error) {
      this.exchange.abort();
      throw failureOf(error).problem;
    }
  }

  return(): Promise<IteratorResult<readonly string[]>> {
    this.done = true;
    this.exchange.abort();
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Events that arrived together; none at `[DONE]`. */
  private async arrived(): Promise<readonly string[]> {
    while (!this.done) {
      const bytes = await this.exchange.read();
      const events = bytes.length === 0 ? this.parser.end() : bytes.flatMap((part) => this.parser.read(part));
      const end = events.indexOf(DONE);
      if (end !== -1) {
        this.done = true;
        // Nothing follows, and reading on lets the connection be used again.
        void this.drain();
        return events.slice(0, end);
      }
      if (bytes.length === 0) {
        if (events.length > 0) return events;
        throw new Error('the stream ended before its [DONE]');
      }
      if (events.length > 0) return events;
    }
    return [];
  }

  private async drain(): Promise<void> {
    try {
      await this.exchange.text(DRAIN_LIMIT_BYTES);
    } catch {
      // The answer is whole; how its connection ends does not matter.
    }
  }
}

/** A backend that sends more than this after its `[DONE]` is cut off. */
const DRAIN_LIMIT_BYTES = 64 * 1024;

/** The status that an error in a stream's first event stands for, where it says one. */
function errorStatus(event: string): number {
  try {
    const { error } = JSON.parse(event) as { error?: { code?: unknown; status?: unknown } };
    const status = Number(error?.status ?? error?.code);
    return status >= 400 && status < 600 ? status : 500;
  } catch {
    return 500;
  }
}
