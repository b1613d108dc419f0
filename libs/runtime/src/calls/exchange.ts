import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type RequestSender, isReset } from './connections.js';
import type { ResponseHeaders } from '../connections/response-head.js';
import type { PassingSet } from '../passing.js';

/** Bytes buffered for a slow reader before its socket is paused. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * A body in one piece of at most this size is written together with its head, which is fastest. undici keeps
 * it until the end of the response.
 */
const AT_ONCE_BYTES = 32 * 1024;

/** Usage is at the end of a response, of which this much is kept readable. */
const END_BYTES = 4 * 1024;

/** Any other list of pieces is written in pieces of at most this size, each freed once it is written. */
const PIECE_BYTES = 256 * 1024;

/** Overhead charged for each buffered piece, so that a flood of single-byte pieces is bounded too. */
const PIECE_OVERHEAD_BYTES = 128;

/** Leaves out a byte order mark, which JSON must not have but some servers send. */
const UTF8 = new TextDecoder();

export interface ExchangeRequest {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** An array is streamed as fast as the connection takes it. */
  readonly body?: string | Uint8Array | readonly Uint8Array[] | undefined;
  /** The longest pause within the response body. */
  readonly pauseMs: number;
  /** The initial deadline; `endWithin` replaces it. */
  readonly deadlineMs: number;
}

/** A request that may be sent twice. */
interface Repeatable {
  readonly sender: RequestSender;
  readonly request: ExchangeRequest;
}

/** Gets an exchange before its response begins. */
interface ExchangeHolder {
  exchange: Exchange | undefined;
}

/**
 * One request and its response, as a handler of undici's form: there are no stream objects in between, and a
 * slow reader pauses the socket. It ends at the first of: the end of the response, a failure, an abort, the
 * deadline.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** 0 until the response head arrives. */
  status = 0;
  headers: ResponseHeaders = {};
  /** Set at the end of the response. */
  trailers: ResponseHeaders = {};
  private controller: Dispatcher.DispatchController | undefined;
  private readonly head = Promise.withResolvers<Exchange>();
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  /** Set while a read waits; nothing is queued then. */
  private wake: (() => void) | undefined;
  private take: ((chunk: Buffer) => boolean) | undefined;
  private ended = false;
  private failure: Error | undefined;
  private deadline: NodeJS.Timeout | undefined;
  /** The last pieces that arrived, for `end`. */
  private beforeLast: Buffer | undefined;
  private last: Buffer | undefined;
  /** What is sent once more, and by whom. Until the first byte of a response only. */
  private again: Repeatable | undefined;
  private readonly onAbort = (): void => this.abort();

  private constructor(
    private readonly signal: AbortSignal | undefined,
    private readonly onEnd: (failure: Error | undefined, exchange: Exchange) => void,
    private readonly keepsEnd: boolean,
  ) {}

  /**
   * Sends the request and resolves when the response head arrives; until then the exchange is in
   * `unanswered`. `onEnd` is called once, at the end. If the other side closes a connection that had been
   * used before, without a byte of a response, the request is sent once more, by `fresh`. It is not given for
   * requests that must not run twice, since the other side may have read this one before it closed the
   * connection. `holder` gets the exchange at once.
   */
  static start(
    dispatcher: RequestSender,
    request: ExchangeRequest,
    {
      signal,
      onEnd,
      unanswered,
      fresh,
      keepsEnd = false,
      holder,
    }: {
      readonly signal: AbortSignal | undefined;
      readonly onEnd: (failure: Error | undefined, exchange: Exchange) => void;
      readonly unanswered?: PassingSet<Exchange> | undefined;
      readonly fresh?: RequestSender | undefined;
      /** Whether `end` is wanted. */
      readonly keepsEnd?: boolean;
      readonly holder?: ExchangeHolder;
    },
  ): Promise<Exchange> {
    const exchange = new Exchange(signal, onEnd, keepsEnd);
    if (holder) holder.exchange = exchange;
    if (signal?.aborted) {
      exchange.finish(abortError());
    } else {
      // Without options, which cost more than the rest; the end removes it.
      signal?.addEventListener('abort', exchange.onAbort);
      exchange.endWithin(request.deadlineMs);
      if (fresh) exchange.again = { sender: fresh, request };
      exchange.dispatch(dispatcher, request);
    }
    const { promise } = exchange.head;
    if (!unanswered) return promise;
    unanswered.add(exchange);
    return promise.finally(() => unanswered.delete(exchange));
  }

  /** Replaces the deadline. */
  endWithin(ms: number): void {
    clearTimeout(this.deadline);
    if (!this.ended) this.deadline = setTimeout(() => this.abort(new ExchangeTimedOut(ms)), ms);
  }

  /** Closes the connection. Readers get an error unless the response had ended. */
  abort(error: Error = abortError()): void {
    if (this.ended) return;
    this.finish(error);
    this.controller?.abort(error);
  }

  /** The bytes of the body that have arrived; counted only if its end is kept. */
  receivedBytes = 0;

  /** The end of what has arrived, at most 4 KiB, which may begin within a character. */
  get end(): string {
    const { last, beforeLast } = this;
    const endOf = (piece: Buffer | undefined): string =>
      piece ? piece.toString('utf8', Math.max(0, piece.length - END_BYTES / 2)) : '';
    return endOf(beforeLast) + endOf(last);
  }

  /** Offers bytes that arrive while a read waits to `take`, which returns whether it used them. */
  offerTo(take: (chunk: Buffer) => boolean): void {
    this.take = take;
  }

  /**
   * The bytes that arrived since the last call; waits for the first of them. Empty at the end of the
   * response.
   */
  read(): Promise<readonly Buffer[]> {
    // A thousand streams wait here; a suspended function would take more memory than these promises.
    if (this.mustWait) return this.arrival().then(() => this.read());
    if (this.failure && this.queue.length === 0) return Promise.reject(this.failure);
    return Promise.resolve(this.taken());
  }

  private get mustWait(): boolean {
    return this.queue.length === 0 && !this.ended;
  }

  private arrival(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wake = resolve;
    return promise;
  }

  private taken(): readonly Buffer[] {
    if (this.queue.length === 0 && this.failure) throw this.failure;
    const taken = this.queue;
    this.queue = [];
    const wasPaused = this.queuedBytes > HIGH_WATER_BYTES;
    // Reset before the resume, which may deliver more data synchronously.
    this.queuedBytes = 0;
    if (wasPaused) this.controller?.resume();
    return taken;
  }

  /** The whole body; a promise unless it has arrived. Throws RangeError if it exceeds the limit. */
  bytes(limitBytes: number): Buffer | Promise<Buffer> {
    // A short response often arrives together with its head. One that was cut off is no whole one.
    if (this.ended && !this.failure) {
      const whole = joined(this.taken());
      if (whole.length > limitBytes) throw tooLong(limitBytes);
      return whole;
    }
    return this.readUpTo(limitBytes).then(({ parts, isWhole }) => {
      if (!isWhole) throw tooLong(limitBytes);
      return joined(parts);
    });
  }

  /** The same, as text, without a byte order mark. */
  text(limitBytes: number): string | Promise<string> {
    const bytes = this.bytes(limitBytes);
    return bytes instanceof Promise ? bytes.then((whole) => UTF8.decode(whole)) : UTF8.decode(bytes);
  }

  /** At most `limitBytes` from the start of the body; the rest is not read. */
  async beginning(limitBytes: number): Promise<string> {
    const { parts } = await this.readUpTo(limitBytes);
    return UTF8.decode(joined(parts).subarray(0, limitBytes));
  }

  private async readUpTo(limitBytes: number): Promise<{ parts: Buffer[]; isWhole: boolean }> {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      // A short response arrives in one piece, without any wait.
      while (this.mustWait) await this.arrival();
      const bytes = this.taken();
      if (bytes.length === 0) return { parts, isWhole: true };
      for (const part of bytes) size += part.length;
      parts.push(...bytes);
      if (size <= limitBytes) continue;
      this.abort();
      return { parts, isWhole: false };
    }
  }

  private dispatch(dispatcher: RequestSender, request: ExchangeRequest): void {
    const { method = 'POST', origin, path, pauseMs } = request;
    try {
      // The exchange's own deadline covers the head.
      const timeouts = { headersTimeout: 0, bodyTimeout: pauseMs };
      dispatcher.dispatch({ method, origin, path, ...bodyOf(request), ...timeouts }, this);
    } catch (error) {
      this.finish(error instanceof Error ? error : new Error('the call could not be made', { cause: error }));
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
  }

  /** The first byte has arrived. */
  onResponseStarted(): void {
    this.again = undefined;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: ResponseHeaders,
  ): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    this.headers = headers;
    // The same headers as slices of what the socket read, which would stay in memory until the end.
    controller.rawHeaders = undefined;
    this.head.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.keepsEnd) {
      this.receivedBytes += chunk.length;
      this.beforeLast = this.last;
      this.last = chunk;
    }
    if (this.wake && this.take?.(chunk) === true) return;
    this.queue.push(chunk);
    this.queuedBytes += chunk.length + PIECE_OVERHEAD_BYTES;
    if (this.queuedBytes > HIGH_WATER_BYTES) controller.pause();
    this.notify();
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: ResponseHeaders): void {
    this.trailers = trailers;
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { again } = this;
    this.again = undefined;
    if (again && !this.ended && isReset(error)) this.dispatch(again.sender, again.request);
    else this.finish(error);
  }

  private finish(failure: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.again = undefined;
    this.failure = failure;
    clearTimeout(this.deadline);
    this.signal?.removeEventListener('abort', this.onAbort);
    if (failure) this.head.reject(failure);
    else this.head.resolve(this);
    this.onEnd(failure, this);
    this.notify();
  }

  private notify(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}

function bodyOf({ headers, body }: ExchangeRequest): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (body === undefined) return { headers };
  if (typeof body === 'string' || body instanceof Uint8Array) return { headers, body };
  const [only] = body;
  if (only && body.length === 1 && only.length <= AT_ONCE_BYTES) return { headers, body: only };
  const size = body.reduce((sum, { length }) => sum + length, 0);
  return { headers: { ...headers, 'content-length': String(size) }, body: streamOf(body) };
}

function streamOf(body: readonly Uint8Array[]): Readable {
  const left = body.flatMap(cut);
  return new Readable({
    read(): void {
      this.push(left.shift() ?? null);
    },
  });
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
  return pieces;
}

const tooLong = (limitBytes: number): RangeError =>
  new RangeError(`the response has more than ${limitBytes} bytes`);

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

/** The caller has gone, so nothing is waiting for this error. */
export class ExchangeAborted extends Error {
  override readonly name = 'ExchangeAborted';
}

/** The exchange did not end by its deadline. */
export class ExchangeTimedOut extends Error {
  override readonly name = 'ExchangeTimedOut';

  constructor(ms: number) {
    super(`no response in ${Math.round(ms)} ms`);
  }
}

function abortError(): ExchangeAborted {
  return new ExchangeAborted('the call was aborted');
}
