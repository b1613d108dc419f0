import { failureOf } from './backend-refusal.js';
import type { Exchange } from './exchange.js';

/** The bytes of a streamed answer, read as fast as they are asked for. */
export class AnswerBytes implements AsyncIterable<readonly Buffer[]>, AsyncIterator<readonly Buffer[]> {
  /** @param first those that have been read */
  constructor(
    private readonly exchange: Exchange,
    private first: readonly Buffer[] | undefined,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<readonly Buffer[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly Buffer[]>> {
    const { first } = this;
    this.first = undefined;
    try {
      const value = first ?? (await this.exchange.read());
      return value.length > 0 ? { value, done: false } : { value: undefined, done: true };
    } catch (error) {
      throw failureOf(error).problem;
    }
  }

  return(): Promise<IteratorResult<readonly Buffer[]>> {
    this.first = undefined;
    this.exchange.abort();
    return Promise.resolve({ value: undefined, done: true });
  }
}
