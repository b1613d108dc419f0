import { Problem } from '@svc/contracts';
import { refusalOf } from './backend-refusal.js';
import type { Exchange } from './exchange.js';

/** The bytes of a streamed answer, read as fast as they are asked for, up to a limit. */
export class AnswerBytes implements AsyncIterable<readonly Buffer[]>, AsyncIterator<readonly Buffer[]> {
  private first: readonly Buffer[] | undefined;
  private leftBytes: number;

  constructor(
    private readonly exchange: Exchange,
    { first, limitBytes }: { first: readonly Buffer[]; limitBytes: number },
  ) {
    this.first = first;
    this.leftBytes = limitBytes;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly Buffer[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly Buffer[]>> {
    const value = await this.arrived();
    if (value.length === 0) return { value: undefined, done: true };
    for (const part of value) this.leftBytes -= part.length;
    if (this.leftBytes >= 0) return { value, done: false };
    this.exchange.abort();
    throw new Problem('INFERENCE_FAILED', { cause: new RangeError('the stream is longer than its limit') });
  }

  return(): Promise<IteratorResult<readonly Buffer[]>> {
    this.first = undefined;
    this.exchange.abort();
    return Promise.resolve({ value: undefined, done: true });
  }

  private async arrived(): Promise<readonly Buffer[]> {
    const { first } = this;
    this.first = undefined;
    if (first) return first;
    try {
      return await this.exchange.read();
    } catch (error) {
      throw refusalOf(error, '').problem;
    }
  }
}
