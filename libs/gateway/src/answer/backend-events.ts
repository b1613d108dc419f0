import { StringDecoder } from 'node:string_decoder';
import { type ChunkStream, Problem } from '@svc/contracts';
import { createParser } from 'eventsource-parser';

const DONE = '[DONE]';

/** An event of a backend may have this many characters; an answer that comes in one event has fewer. */
const EVENT_LIMIT_CHARACTERS = 4 * 1024 * 1024;

/** A backend that goes on after its `[DONE]` for longer, or with more, is cut off. */
const DRAIN_MS = 1_000;
const DRAIN_LIMIT_BYTES = 64 * 1024;

/**
 * The data of a streamed answer's events, those that arrived together in one array; events without data are none.
 * Ends at `[DONE]`, which is not among them; throws INFERENCE_FAILED where it is missing, REQUEST_TIMEOUT where no
 * event comes for so long. Whoever stops iterating closes the call to the backend.
 */
export function eventsOf(stream: ChunkStream, silenceMs: number): AsyncIterable<readonly string[]> {
  return new BackendEvents(stream.bytes[Symbol.asyncIterator](), silenceMs);
}

class BackendEvents implements AsyncIterable<readonly string[]>, AsyncIterator<readonly string[]> {
  private arrived: string[] = [];
  private done = false;
  private readonly decoder = new StringDecoder('utf8');
  private readonly parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '') this.arrived.push(data);
    },
    maxBufferSize: EVENT_LIMIT_CHARACTERS,
  });

  constructor(
    private readonly bytes: AsyncIterator<readonly Uint8Array[]>,
    private readonly silenceMs: number,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<readonly string[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly string[]>> {
    const sinceMs = performance.now();
    while (!this.done) {
      const next = await this.bytes.next();
      let events: readonly string[];
      try {
        events = next.done === true ? this.readEnd() : this.read(next.value);
      } catch (error) {
        await this.return();
        throw error;
      }
      if (events.length > 0) return { value: events, done: false };
      if (performance.now() - sinceMs > this.silenceMs) {
        await this.return();
        throw new Problem('REQUEST_TIMEOUT', { cause: new Error('the stream has bytes and no events') });
      }
    }
    return { value: undefined, done: true };
  }

  async return(): Promise<IteratorResult<readonly string[]>> {
    this.done = true;
    await this.bytes.return?.();
    return { value: undefined, done: true };
  }

  private read(parts: readonly Uint8Array[]): readonly string[] {
    this.feed(this.decoder.write(joined(parts)));
    const events = this.taken();
    // Nothing of the answer follows, and reading on lets the connection be used again.
    if (this.done) void drain(this.bytes);
    return events;
  }

  /** What the bytes ended in: an event whose blank line is missing, or else nothing, which is a fault. */
  private readEnd(): readonly string[] {
    this.feed(`${this.decoder.end()}\n\n`);
    const events = this.taken();
    if (events.length > 0 || this.done) return events;
    throw new Problem('INFERENCE_FAILED', { cause: new Error('the stream ended before its [DONE]') });
  }

  /** Once it has thrown for an event over the limit it throws for good. */
  private feed(text: string): void {
    try {
      this.parser.feed(text);
    } catch (error) {
      throw new Problem('INFERENCE_FAILED', { cause: error });
    }
  }

  /** The events that have arrived, up to the end of the answer. */
  private taken(): readonly string[] {
    const events = this.arrived;
    this.arrived = [];
    const end = events.indexOf(DONE);
    if (end === -1) return events;
    this.done = true;
    return events.slice(0, end);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

/** Reads on to the end of the connection, within bounds. */
async function drain(bytes: AsyncIterator<readonly Uint8Array[]>): Promise<void> {
  const close = (): void => void bytes.return?.();
  const timer = setTimeout(close, DRAIN_MS);
  try {
    let size = 0;
    for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) {
      for (const part of next.value) size += part.length;
      if (size > DRAIN_LIMIT_BYTES) close();
    }
  } catch {
    // The answer is whole; how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}
