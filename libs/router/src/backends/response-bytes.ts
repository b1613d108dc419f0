import { Problem } from '@svc/contracts';
import type { ResponseHeaders, Exchange } from '@svc/runtime';
import { refusalOf } from './backend-refusal.js';

export interface ResponseBytesOptions {
  /** Chunks that have been read already. */
  readonly first?: readonly Buffer[];
  readonly limitBytes: number;
  /** The problem that the response's trailers report, if any. */
  readonly problemIn?: (trailers: ResponseHeaders) => Problem | undefined;
}

/** The bytes of a streamed response, read on demand, up to a limit. */
export class ResponseBytes implements AsyncIterable<readonly Buffer[]>, AsyncIterator<readonly Buffer[]> {
  private first: readonly Buffer[] | undefined;
  private leftBytes: number;

  constructor(
    private readonly exchange: Exchange,
    private readonly options: ResponseBytesOptions,
  ) {
    this.first = options.first;
    this.leftBytes = options.limitBytes;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly Buffer[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly Buffer[]>> {
    let value = this.first;
    this.first = undefined;
    try {
      value ??= await this.exchange.read();
    } catch (error) {
      throw refusalOf(error, { body: [], secrets: [] }).problem;
    }
    if (value.length === 0) {
      const problem = this.options.problemIn?.(this.exchange.trailers);
      if (problem) throw problem;
      return { value: undefined, done: true };
    }
    for (const part of value) this.leftBytes -= part.length;
    if (this.leftBytes >= 0) return { value, done: false };
    this.exchange.abort();
    throw new Problem('INFERENCE_FAILED', { cause: new RangeError('the stream is longer than its limit') });
  }

  offerTo(take: (part: Buffer) => boolean): void {
    this.exchange.offerTo((part) => {
      if (part.length > this.leftBytes || !take(part)) return false;
      this.leftBytes -= part.length;
      return true;
    });
  }

  return(): Promise<IteratorResult<readonly Buffer[]>> {
    this.first = undefined;
    this.exchange.abort();
    return Promise.resolve({ value: undefined, done: true });
  }
}
