import { StringDecoder } from 'node:string_decoder';
import { BackendError } from '@svc/backend-calls';
import type { ChunkStream, StreamedBytes } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { Exchange } from '@svc/runtime';
import { type EventSourceMessage, type EventSourceParser, createParser } from 'eventsource-parser';

/** What the line of an event begins with. */
export const DATA = 'data: ';

/** The data of the last event, if a backend sends one. */
const DONE = '[DONE]';

/** The most characters of one backend event. A response in a single event is smaller. */
const EVENT_LIMIT_CHARACTERS = 4 * 1024 * 1024;

/** Limits for reading on after `[DONE]` before the connection is closed. */
const DRAIN_MS = 1_000;
const DRAIN_LIMIT_BYTES = 64 * 1024;

/** A stream is parsed only up to this size; errors are smaller. */
const LOOK_LIMIT_BYTES = 64 * 1024;

/** What the events of a dialect mean, as far as it matters before a response has begun. */
export interface EventMeaning {
  /** Checks a complete response, which is passed on unchanged. Throws BackendError or Error. */
  readonly checkCompletion: (body: string) => void;
  /** The status of the failure that an event reports; undefined if it reports none. `name` is the event's. */
  readonly failureIn: (data: string, name: string | undefined) => number | undefined;
  /** Whether an event says something, so that no other backend may be called after it. */
  readonly begins: (data: string) => boolean;
}

interface EventsOptions {
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Whether the events that were read so far are a complete response. */
  readonly isComplete: () => boolean;
}

/** Whether a response is a document instead of events, of whose lines none begins with a brace. */
export const isDocument = (text: string): boolean => /^\s*\{/.test(text);

/**
 * The data of the events of a streamed response, in arrays of those that arrived together; events without
 * data are skipped. A backend that responds with a document instead is read as if this were its only event.
 * The response is complete at `[DONE]`, which is left out, or if it is complete where the bytes end, since
 * some backends send no `[DONE]`. Otherwise throws INFERENCE_FAILED, and REQUEST_TIMEOUT if no event arrives
 * in time. Stopping the iteration closes the backend call.
 */
export function eventsOf({ bytes }: Pick<ChunkStream, 'bytes'>, options: EventsOptions): BackendEvents {
  return new BackendEvents(bytes, options);
}

class BackendEvents implements AsyncIterable<readonly string[]>, AsyncIterator<readonly string[]> {
  private arrived: string[] = [];
  private done = false;
  /** Whether the bytes so far end with a whole event. The first one may begin with a byte order mark. */
  private isBetweenEvents = false;
  /** When the last event arrived, or reading began, on the clock of `performance.now()`. */
  private sinceMs = 0;
  private readonly bytes: AsyncIterator<readonly Uint8Array[]>;
  private readonly decoder = new StringDecoder('utf8');
  /** Kept within an event only: it takes a kilobyte, and most streams need it once. */
  private parser: EventSourceParser | undefined;
  /** Whether the first character that is not white space has arrived. */
  private isBegun = false;
  /** The parts of a document that came instead of events, and their length. */
  private document: string[] | undefined;
  private documentLength = 0;

  constructor(
    private readonly stream: StreamedBytes,
    private readonly options: EventsOptions,
  ) {
    this.bytes = stream[Symbol.asyncIterator]();
  }

  /**
   * From now on, bytes that begin where an event may begin are offered to `take` while a read waits. If it
   * returns true, they were whole events and the read does not get them.
   */
  offerTo(take: (part: Buffer) => boolean): void {
    this.stream.offerTo?.((part) => {
      if (this.done || !this.isBetweenEvents || !take(part)) return false;
      this.sinceMs = performance.now();
      return true;
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly string[]> {
    return this;
  }

  async next(): Promise<IteratorResult<readonly string[]>> {
    this.sinceMs = performance.now();
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
      if (performance.now() - this.sinceMs > this.options.idleTimeoutMs) {
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
    const bytes = joined(parts);
    const text = this.decoder.write(bytes);
    if (!this.isBegun) this.begin(text);
    if (this.document) {
      this.addToDocument(text);
      return [];
    }
    const whole = this.isBetweenEvents ? eventsOfOneLine(text) : undefined;
    if (whole) this.arrived = whole;
    else this.feed(text);
    // The decoder keeps the beginning of a character.
    if (bytes.length > 0) this.isBetweenEvents = text.endsWith('\n\n') && bytes.at(-1) === LINE_END;
    if (this.isBetweenEvents) this.parser = undefined;
    const events = this.taken();
    // The response is complete; reading on lets the connection be reused.
    if (this.done) void drain(this.bytes);
    return events;
  }

  /**
   * The final events, including one whose blank line is missing. Throws if there are none, and the response
   * is not complete.
   */
  private readEnd(): readonly string[] {
    if (this.document) {
      this.done = true;
      return [this.document.join('').trim()];
    }
    this.feed(`${this.decoder.end()}\n\n`);
    const events = this.taken();
    if (events.length > 0 || this.done) return events;
    this.done = this.options.isComplete();
    if (this.done) return events;
    throw new Problem('INFERENCE_FAILED', { cause: new Error('the stream ended before its [DONE]') });
  }

  private begin(text: string): void {
    this.isBegun = text.trim() !== '';
    if (isDocument(text)) this.document = [];
  }

  private addToDocument(text: string): void {
    this.documentLength += text.length;
    if (this.documentLength > EVENT_LIMIT_CHARACTERS)
      throw new Problem('INFERENCE_FAILED', { cause: new Error('the response is larger than its limit') });
    this.document?.push(text);
  }

  /** Keeps throwing after an event over the limit. */
  private feed(text: string): void {
    this.parser ??= createParser({
      onEvent: ({ data }) => {
        if (data !== '') this.arrived.push(data);
      },
      maxBufferSize: EVENT_LIMIT_CHARACTERS,
    });
    try {
      this.parser.feed(text);
    } catch (error) {
      throw new Problem('INFERENCE_FAILED', { cause: error });
    }
  }

  /** The events that have arrived, up to `[DONE]`. */
  private taken(): readonly string[] {
    const events = this.arrived;
    this.arrived = [];
    const end = events.indexOf(DONE);
    if (end === -1) return events;
    this.done = true;
    return events.slice(0, end);
  }
}

const LINE_END = 0x0a;

/**
 * The data of events that consist of one line each, as most backends send them; undefined for a text with
 * anything else, which the parser must read.
 */
function eventsOfOneLine(text: string): string[] | undefined {
  if (text.includes('\r')) return undefined;
  const events: string[] = [];
  for (let at = 0; at < text.length;) {
    if (!text.startsWith(DATA, at)) return undefined;
    const end = text.indexOf('\n', at);
    if (end === -1 || text.charCodeAt(end + 1) !== LINE_END) return undefined;
    const from = at + DATA.length;
    if (end > from) events.push(text.slice(from, end));
    at = end + 2;
  }
  return events;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

/** Reads to the end of the connection, within limits. */
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
    // The response is complete, so the way its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads a stream up to the first event that says something, so that if a backend starts with an error, fails
 * before that, or never starts, another one can be called. Returns all bytes that arrived. Throws
 * BackendError, or Error if there is no response. A backend may also respond with a complete completion.
 */
export async function firstEvent(
  exchange: Pick<Exchange, 'read'>,
  meaning: EventMeaning,
): Promise<readonly Buffer[]> {
  const bytes: Buffer[] = [];
  const look = new FirstLook(meaning);
  let size = 0;
  while (!look.isOver && size < LOOK_LIMIT_BYTES) {
    const arrived = await exchange.read();
    if (arrived.length === 0) {
      look.end();
      if (!look.hasEvents) meaning.checkCompletion(Buffer.concat(bytes).toString('utf8'));
      break;
    }
    for (const part of arrived) {
      size += part.length;
      bytes.push(part);
      look.read(part);
    }
  }
  return bytes;
}

/** Throws at the first event with a failure. */
class FirstLook {
  hasEvents = false;
  isOver = false;
  private readonly decoder = new StringDecoder('utf8');
  /** Made for events that are not whole lines. */
  private parser: EventSourceParser | undefined;

  constructor(private readonly meaning: EventMeaning) {}

  read(part: Buffer): void {
    const from = this.parser ? 0 : this.readLines(part);
    if (!this.isOver) this.feed(this.decoder.write(part.subarray(from)));
  }

  end(): void {
    if (!this.isOver) this.feed('\n\n');
  }

  /**
   * Reads events of one line each, as most backends send them, no further than needed. Returns where other
   * bytes begin.
   */
  private readLines(part: Buffer): number {
    let at = 0;
    while (!this.isOver) {
      const end = part.indexOf('\n\n', at);
      const line = end < 0 ? '' : part.toString('utf8', at, end);
      if (!line.startsWith(DATA) || /[\r\n]/.test(line)) break;
      this.look({ data: line.slice(DATA.length), event: undefined });
      at = end + 2;
    }
    return at;
  }

  private feed(characters: string): void {
    this.parser ??= createParser({ onEvent: (event) => this.look(event) });
    this.parser.feed(characters);
  }

  private look({ event, data }: Pick<EventSourceMessage, 'event' | 'data'>): void {
    const { meaning } = this;
    if (data === '' || this.isOver) return;
    const status = meaning.failureIn(data, event);
    if (status !== undefined) throw new BackendError(status, data);
    if (data === DONE && !this.hasEvents) throw new Error('the stream was empty');
    this.hasEvents = true;
    this.isOver = data === DONE || meaning.begins(data);
  }
}
