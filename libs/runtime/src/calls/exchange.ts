import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/** Bytes that wait for a slow reader before the other end is told to pause. */
const HIGH_WATER_BYTES = 256 * 1024;

/** A body in pieces is written in pieces up to this size. */
const PIECE_BYTES = 256 * 1024;

/** What a piece of an answer takes beside its bytes, so that a flood of single bytes is bounded as well. */
const PIECE_OVERHEAD_BYTES = 128;

/** The headers of an answer, or its trailers, by their names in small letters. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface ExchangeRequest {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** In pieces it is written as fast as it is read, and not all at once. */
  readonly body?: string | Uint8Array | readonly Uint8Array[];
  /** How long the answer may pause once it has begun. */
  readonly pauseMs: number;
  /** Its first deadline: how long it may take until another one is set. */
  readonly deadlineMs: number;
}

/**
 * One request and its answer, straight on undici's dispatch: no stream objects between, and a reader that is slow
 * pauses the socket. Whatever happens first ends it: the end of the answer, a failure, an abort, its deadline.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Of the answer; 0 until its head is there. */
  status = 0;
  headers: AnswerHeaders = {};
  /** What the answer said after its last byte. */
  trailers: AnswerHeaders = {};
  private controller: Dispatcher.DispatchController | undefined;
  private readonly head = Promise.withResolvers<void>();
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  private wake: (() => void) | undefined;
  private ended = false;
  private failure: Error | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private readonly onAbort = (): void => this.abort();

  private constructor(
    private readonly signal: AbortSignal | undefined,
    private readonly onEnd: (failure: Error | undefined) => void,
  ) {}

  /**
   * Sends the request and resolves when the response head is there; until then it is in `unanswered`. `onEnd` is called once,
   * at the end.
   */
  static async start(
    dispatcher: Dispatcher,
    request: ExchangeRequest,
    {
      signal,
      onEnd,
      unanswered,
    }: {
      readonly signal: AbortSignal | undefined;
      readonly onEnd: (failure: Error | undefined) => void;
      readonly unanswered?: Set<Exchange> | undefined;
    },
  ): Promise<Exchange> {
    const exchange = new Exchange(signal, onEnd);
    if (signal?.aborted) {
      exchange.finish(abortError());
    } else {
      signal?.addEventListener('abort', exchange.onAbort, { once: true });
      exchange.endWithin(request.deadlineMs);
      exchange.dispatch(dispatcher, request);
    }
    unanswered?.add(exchange);
    try {
      await exchange.head.promise;
    } finally {
      unanswered?.delete(exchange);
    }
    return exchange;
  }

  /** Sets its deadline, in place of the one before. */
  endWithin(ms: number): void {
    clearTimeout(this.deadline);
    if (!this.ended) this.deadline = setTimeout(() => this.abort(new ExchangeTimedOut(ms)), ms);
  }

  /** Closes the connection. Readers see an error, unless the answer had ended. */
  abort(error: Error = abortError()): void {
    if (this.ended) return;
    this.finish(error);
    this.controller?.abort(error);
  }

  /** The bytes that have arrived since the last call; waits for the first of them. Empty at the end. */
  async read(): Promise<readonly Buffer[]> {
    while (this.mustWait) await this.arrival();
    return this.taken();
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
    // Before the backend goes on, which may hand over more at once.
    this.queuedBytes = 0;
    if (wasPaused) this.controller?.resume();
    return taken;
  }

  /** The whole answer. Throws RangeError when it has more bytes than that. */
  async text(limitBytes: number): Promise<string> {
    const { parts, isWhole } = await this.readUpTo(limitBytes);
    if (!isWhole) throw new RangeError(`the answer has more than ${limitBytes} bytes`);
    return joined(parts).toString('utf8');
  }

  /** The beginning of the answer; what is longer is not read. */
  async beginning(limitBytes: number): Promise<string> {
    const { parts } = await this.readUpTo(limitBytes);
    return joined(parts).toString('utf8', 0, limitBytes);
  }

  private async readUpTo(limitBytes: number): Promise<{ parts: Buffer[]; isWhole: boolean }> {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      // Short answers come all at once, and then there is nothing to wait for.
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

  private dispatch(dispatcher: Dispatcher, request: ExchangeRequest): void {
    const { method = 'POST', origin, path, pauseMs } = request;
    try {
      // The deadline covers the head.
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

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: AnswerHeaders,
  ): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    this.headers = headers;
    this.head.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.queue.push(chunk);
    this.queuedBytes += chunk.length + PIECE_OVERHEAD_BYTES;
    if (this.queuedBytes > HIGH_WATER_BYTES) controller.pause();
    this.notify();
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: AnswerHeaders): void {
    this.trailers = trailers;
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish(error);
  }

  private finish(failure: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    clearTimeout(this.deadline);
    this.signal?.removeEventListener('abort', this.onAbort);
    if (failure) this.head.reject(failure);
    else this.head.resolve();
    this.onEnd(failure);
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
  if (only && body.length === 1 && only.length <= PIECE_BYTES) return { headers, body: only };
  const size = body.reduce((sum, { length }) => sum + length, 0);
  return { headers: { ...headers, 'content-length': String(size) }, body: Readable.from(cut(body)) };
}

function* cut(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES);
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only ? only : Buffer.concat(parts);
}

/** The caller went away; nobody is waiting for this error. */
export class ExchangeAborted extends Error {
  override readonly name = 'ExchangeAborted';
}

/** It had not ended by its deadline. */
export class ExchangeTimedOut extends Error {
  override readonly name = 'ExchangeTimedOut';

  constructor(ms: number) {
    super(`no answer in ${Math.round(ms)} ms`);
  }
}

function abortError(): ExchangeAborted {
  return new ExchangeAborted('the call was aborted');
}
