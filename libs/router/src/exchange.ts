import type { Dispatcher } from 'undici';

/** Bytes that wait for a slow reader before the backend is told to pause. */
const HIGH_WATER_BYTES = 256 * 1024;

export interface ExchangeRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** How long the head of the answer may take. */
  readonly headersTimeoutMs: number;
  /** How long the answer may pause. */
  readonly bodyTimeoutMs: number;
}

/**
 * One POST and its answer, straight on undici's dispatch: no stream objects between, and a reader that is slow
 * pauses the socket. Whatever happens first ends it: the end of the answer, a failure, an abort.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  status = 0;
  /** The answer's `Retry-After`, in seconds, where it is a number. */
  retryAfterSeconds: number | undefined;
  private controller: Dispatcher.DispatchController | undefined;
  private readonly head = Promise.withResolvers<void>();
  private queue: Buffer[] = [];
  private queuedBytes = 0;
  private wake: (() => void) | undefined;
  private ended = false;
  private failure: Error | undefined;
  private readonly onAbort = (): void => this.abort();

  private constructor(
    private readonly signal: AbortSignal,
    private readonly onEnd: () => void,
  ) {}

  /** Sends the request and resolves when the head of the answer is there. `onEnd` is called once, at the end. */
  static async start(
    dispatcher: Dispatcher,
    request: ExchangeRequest,
    { signal, onEnd }: { signal: AbortSignal; onEnd: () => void },
  ): Promise<Exchange> {
    const exchange = new Exchange(signal, onEnd);
    if (signal.aborted) {
      exchange.finish(abortError());
    } else {
      signal.addEventListener('abort', exchange.onAbort, { once: true });
      dispatcher.dispatch(
        {
          method: 'POST',
          origin: request.origin,
          path: request.path,
          headers: request.headers,
          body: request.body,
          headersTimeout: request.headersTimeoutMs,
          bodyTimeout: request.bodyTimeoutMs,
        },
        exchange,
      );
    }
    await exchange.head.promise;
    return exchange;
  }

  /** Closes the connection. Readers see an error, unless the answer had ended. */
  abort(): void {
    if (this.ended) return;
    const error = abortError();
    this.finish(error);
    this.controller?.abort(error);
  }

  /** The bytes that have arrived since the last call; waits for the first of them. Empty at the end. */
  async read(): Promise<readonly Buffer[]> {
    while (this.queue.length === 0) {
      if (this.failure) throw this.failure;
      if (this.ended) return [];
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      await promise;
    }
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
    const parts: Buffer[] = [];
    let size = 0;
    for (let bytes = await this.read(); bytes.length > 0; bytes = await this.read()) {
      for (const part of bytes) size += part.length;
      if (size > limitBytes) {
        this.abort();
        throw new RangeError(`the answer has more than ${limitBytes} bytes`);
      }
      parts.push(...bytes);
    }
    return (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)).toString('utf8');
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) return;
    this.status = statusCode;
    const retryAfter = Number(headers['retry-after']);
    if (retryAfter >= 0) this.retryAfterSeconds = Math.ceil(retryAfter);
    this.head.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.queue.push(chunk);
    this.queuedBytes += chunk.length;
    if (this.queuedBytes > HIGH_WATER_BYTES) controller.pause();
    this.notify();
  }

  onResponseEnd(): void {
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish(error);
  }

  private finish(failure: Error | undefined): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    this.signal.removeEventListener('abort', this.onAbort);
    if (failure) this.head.reject(failure);
    else this.head.resolve();
    this.onEnd();
    this.notify();
  }

  private notify(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}

/** The caller went away; nobody is waiting for this error. */
export class ExchangeAborted extends Error {
  override readonly name = 'ExchangeAborted';
}

function abortError(): ExchangeAborted {
  return new ExchangeAborted('the call was aborted');
}
