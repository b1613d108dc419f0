import { type Socket, connect } from 'node:net';
import { type Dispatcher, errors } from 'undici';
import type { ReceivedHead, ResponseHeaders } from './response-head.js';
import { type ResponseParts, ResponseReader } from './response-reader.js';

/** Where a connection leads, and who gets it back. */
export interface ConnectionPlace {
  readonly host: string;
  readonly port: number;
  readonly connectTimeoutMs: number;
  /** How long it is kept without a request, unless the other side says. */
  readonly keepAliveMs: number;
  /** How long it takes requests; after that it ends with its response. */
  readonly longestMs: number;
  /** Called when it can take the next request. */
  readonly free: (connection: PlainConnection) => void;
  /** Called once, when it can take no more, with a request that it was given and has not begun to send. */
  readonly gone: (connection: PlainConnection, unsent: PlainRequest | undefined) => void;
  /** Called with each error of its socket, and the bytes that had arrived before. */
  readonly failed: (error: Error, bytesRead: number) => void;
}

/** A request as it is sent. */
export interface PlainRequest {
  /** All lines, each with its end, and the empty one. */
  readonly head: string;
  /** A string has only ASCII. */
  readonly body: Uint8Array | string | undefined;
  /** The longest pause within the response's body; 0 for any. */
  readonly pauseMs: number;
  readonly handler: Dispatcher.DispatchHandler;
}

/** Head and body up to this size are sent in one piece. */
const AT_ONCE_BYTES = 65_536;

/** The system notices a connection whose other side has vanished. */
const PROBE_MS = 60_000;

/**
 * One HTTP/1.1 connection without TLS, for one request at a time. It costs half of what undici's costs;
 * what the handler sees is the same, except that nothing is reported after an abort.
 */
export class PlainConnection implements Dispatcher.DispatchController, ResponseParts {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** On the clock of `performance.now()`, while it has no request. 0 until its first response has ended. */
  keptUntilMs = 0;
  private readonly lastMs: number;
  private readonly socket: Socket;
  private readonly reader = new ResponseReader(this);
  private handler: Dispatcher.DispatchHandler | undefined;
  private unsent: PlainRequest | undefined;
  private pauseMs = 0;
  /** When something last arrived. */
  private arrivedMs = 0;
  private isStarted = false;
  private keptMs: number | undefined;
  private isGone = false;
  private pauseTimer: NodeJS.Timeout | undefined;
  private readonly connectTimer: NodeJS.Timeout;

  constructor(private readonly place: ConnectionPlace) {
    const { host, port, connectTimeoutMs, longestMs } = place;
    this.lastMs = performance.now() + longestMs;
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    this.socket = connect({ host, port, noDelay: true, ...keepAlive })
      .on('connect', () => clearTimeout(this.connectTimer))
      .on('data', (bytes: Buffer) => this.take(bytes))
      .on('error', (error) => this.fail(error))
      .on('end', () => this.end())
      .on('close', () => this.fail(this.closed()));
    // In a process that was busy, the connection may have been made long ago: this turn reports it.
    this.connectTimer = setTimeout(() => setImmediate(() => this.endConnecting()), connectTimeoutMs);
  }

  /** Takes a request, which `write` sends. Call it only for a new connection, or one that is free. */
  begin(request: PlainRequest): void {
    const { handler } = request;
    this.handler = handler;
    this.unsent = request;
    this.pauseMs = request.pauseMs;
    this.isStarted = false;
    this.reader.begin();
    this.socket.ref();
    handler.onRequestStart?.(this, {});
  }

  /** Sends the request, unless it has been aborted. */
  write(): void {
    const { socket, unsent } = this;
    if (!unsent || this.isGone) return;
    this.unsent = undefined;
    const { head, body } = unsent;
    const size = body?.length ?? 0;
    if (size === 0) socket.write(head, 'latin1');
    else if (head.length + size > AT_ONCE_BYTES) {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body ?? '', 'latin1');
      socket.uncork();
    } else if (typeof body === 'string') socket.write(head + body, 'latin1');
    else socket.write(joined(head, body));
  }

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.handler = undefined;
    this.leave();
  }

  pause(): void {
    this.paused = true;
    this.socket.pause();
  }

  resume(): void {
    this.paused = false;
    this.arrivedMs = performance.now();
    this.socket.resume();
  }

  /** Ends a connection without a request. */
  close(): void {
    this.fail(this.closed());
  }

  onHead(head: ReceivedHead): void {
    this.keptMs = head.framing === 'close' ? 0 : head.keptMs;
    this.handler?.onResponseStart?.(this, head.status, head.headers);
  }

  onData(bytes: Buffer): void {
    this.handler?.onResponseData?.(this, bytes);
  }

  onEnd(trailers: ResponseHeaders): void {
    const { handler } = this;
    clearTimeout(this.pauseTimer);
    this.pauseTimer = undefined;
    this.handler = undefined;
    if (this.paused) this.resume();
    handler?.onResponseEnd?.(this, trailers);
  }

  private endConnecting(): void {
    const { connectTimeoutMs } = this.place;
    if (this.socket.connecting)
      this.fail(new errors.ConnectTimeoutError(`no connection in ${connectTimeoutMs} ms`));
  }

  private take(bytes: Buffer): void {
    const { reader, handler } = this;
    // It is no response to a request that the other side has not got.
    if (this.movable) {
      this.fail(this.closed());
      return;
    }
    if (handler && !this.isStarted) {
      this.isStarted = true;
      handler.onResponseStarted?.();
    }
    try {
      reader.read(bytes);
    } catch (error) {
      this.fail(error as Error);
      return;
    }
    if (this.isGone) return;
    if (reader.isIdle) this.free();
    else if (reader.isInBody) {
      this.arrivedMs = performance.now();
      if (this.pauseMs > 0) this.pauseTimer ??= setTimeout(() => this.checkPause(), this.pauseMs);
    }
  }

  /** A timer is not set again at each chunk, but looks how long the last one was ago. */
  private checkPause(): void {
    const leftMs = this.paused ? this.pauseMs : this.arrivedMs + this.pauseMs - performance.now();
    if (leftMs <= 0) this.fail(new errors.BodyTimeoutError());
    else this.pauseTimer = setTimeout(() => this.checkPause(), Math.ceil(leftMs));
  }

  private free(): void {
    const { keptMs = this.place.keepAliveMs, socket } = this;
    const nowMs = performance.now();
    const untilMs = Math.min(nowMs + keptMs, this.lastMs);
    // What is left of a request that was answered early would come before the next one.
    if (untilMs <= nowMs || this.unsent || socket.writableLength > 0) {
      this.leave();
      return;
    }
    this.keptUntilMs = untilMs;
    socket.unref();
    this.place.free(this);
  }

  /** The other side sends no more. */
  private end(): void {
    if (this.reader.ended()) this.leave();
    else this.fail(this.closed());
  }

  /** A request that may go by another connection: it is not sent, and this one has worked before. */
  private get movable(): PlainRequest | undefined {
    return this.keptUntilMs > 0 && this.handler ? this.unsent : undefined;
  }

  private fail(error: Error): void {
    const { handler, socket, movable } = this;
    this.handler = undefined;
    if (movable) {
      this.leave(movable);
      return;
    }
    if (handler) this.place.failed(error, socket.bytesRead);
    this.leave();
    handler?.onResponseError?.(this, error);
  }

  private leave(unsent?: PlainRequest): void {
    if (this.isGone) return;
    this.isGone = true;
    this.unsent = undefined;
    clearTimeout(this.connectTimer);
    clearTimeout(this.pauseTimer);
    this.reader.stop();
    this.socket.destroy();
    this.place.gone(this, unsent);
  }

  private closed(): Error {
    return new errors.SocketError('the other side closed the connection');
  }
}

/** A head in Latin-1 and its body. */
function joined(head: string, body: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}
