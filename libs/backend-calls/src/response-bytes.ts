import { Problem } from '@svc/contracts/problems';
import type { ResponseHeaders, Exchange } from '@svc/runtime';
import { refusalOf } from './backend-refusal.js';

/** Where the bytes of a response come from. */
export type ByteSource = Pick<Exchange, 'read' | 'abort' | 'offerTo' | 'trailers'>;

interface ResponseBytesOptions {
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
  private readonly problemIn: ResponseBytesOptions['problemIn'];

  constructor(
    private readonly exchange: ByteSource,
    { first, limitBytes, problemIn }: ResponseBytesOptions,
  ) {
    this.first = first;
    this.leftBytes = limitBytes;
    this.problemIn = problemIn;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly Buffer[]> {
    return this;
  }

  next(): Promise<IteratorResult<readonly Buffer[]>> {
    const { first } = this;
    this.first = undefined;
    return (first ? Promise.resolve(first) : this.exchange.read()).then(
      (value) => this.result(value),
      (error: unknown) => {
        throw refusalOf(error, { body: [], secrets: [] }).problem;
      },
    );
  }

  private result(value: readonly Buffer[]): IteratorResult<readonly Buffer[]> {
    if (value.length === 0) {
      const problem = this.problemIn?.(this.exchange.trailers);
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
