import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { Problem } from '@svc/contracts/problems';
import { inference } from '@svc/telemetry';
import type { GatewayConfig } from '../gateway.config.js';
import { type Encoding, chooseEncoding, encode } from './content-encoding.js';
import type { HeaderValues } from './header-values.js';
import { storedHeaders } from './stored-headers.js';
import { type Incoming, type Outgoing, within } from '@svc/runtime';

const JSON_TYPE = 'application/json; charset=utf-8';

const HEAD_END = /\r\n\r\n/;

/** A comment, which readers of events ignore. */
export const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

const STREAM_HEADERS: HeaderValues = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

type Bounds = Pick<
  GatewayConfig,
  | 'GATEWAY_RESPONSE_TIMEOUT_MS'
  | 'GATEWAY_FIRST_TOKEN_WAIT_MS'
  | 'GATEWAY_KEEP_ALIVE_MS'
  | 'GATEWAY_CLIENT_IDLE_TIMEOUT_MS'
>;

/**
 * Writes one response to one client as fast as the client reads. Bypasses Fastify, which would wrap each
 * stream in its own. The head is sent with the first bytes.
 */
export class ResponseWriter {
  /** Headers in addition to those of every response of the service. Error responses include them too. */
  readonly headers: HeaderValues = {};
  private readonly gone = new AbortController();
  private readonly deadline: NodeJS.Timeout;
  private keepAlive: NodeJS.Timeout | undefined;
  /** When the stream last sent something, on the clock of `performance.now()`. */
  private sentAtMs = 0;
  private goneAtMs: number | undefined;
  /** Why the signal was aborted: the first reason counts. */
  private abortedAs: 'gone' | 'late' | undefined;
  /** Whether the head of a stream was handed to Node, with the first frames. */
  private isHeadWritten = false;
  /** Whether the response is made and stored even if its client has left. */
  private outlastsClient = false;
  private hasEnded = false;
  private readonly onClose = (): void => {
    if (this.hasEnded) return;
    this.goneAtMs = performance.now();
    if (!this.outlastsClient) this.abort('gone');
  };

  constructor(
    private readonly request: Incoming,
    private readonly reply: Outgoing,
    private readonly bounds: Bounds,
    /** Sent while a stream is idle. */
    private readonly keepAliveFrame = KEEP_ALIVE_FRAME,
  ) {
    const { raw } = reply;
    raw.on('close', this.onClose);
    // A failing socket also emits `close`, which is handled above.
    raw.on('error', ignore);
    this.deadline = setTimeout(
      () => this.abort('late', new Problem('REQUEST_TIMEOUT')),
      bounds.GATEWAY_RESPONSE_TIMEOUT_MS,
    );
  }

  /**
   * Aborted when the client disconnects, or with a `Problem` as its reason when the response takes too long
   * to begin.
   */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get isGone(): boolean {
    if (this.outlastsClient) return false;
    // Checked at each chunk, for which the getters of a signal are slow.
    return this.abortedAs === undefined ? this.reply.raw.destroyed : this.abortedAs === 'gone';
  }

  /** Whether a streamed response has begun, so that errors can only be sent as events. */
  get isStreaming(): boolean {
    return this.keepAlive !== undefined;
  }

  /**
   * Called for a response that is sent whole: a client with an `Idempotency-Key` that leaves gets it when it
   * repeats its request.
   */
  outlastIfRepeated(): void {
    this.outlastsClient = this.request.repeat !== undefined;
  }

  /** Begins a stream. From then on it sends keep-alives while it is idle. */
  begin(): void {
    if (this.keepAlive || this.isGone) return;
    clearTimeout(this.deadline);
    this.writeHead(STREAM_HEADERS);
    joinHead(this.reply.raw);
    this.keepAliveIn(this.bounds.GATEWAY_KEEP_ALIVE_MS);
  }

  /** Waits for the first part of a stream. If that takes long, begins the stream and sends a keep-alive. */
  async beginWith<T>(first: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.begin();
      this.showLife();
    }, this.bounds.GATEWAY_FIRST_TOKEN_WAIT_MS);
    try {
      return await first;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Writes frames. Returns a promise if the client must read first; a client that stops reading is
   * disconnected.
   */
  write(frames: string): Promise<void> | undefined {
    const { raw } = this.reply;
    const { record } = this.request;
    this.sentAtMs = performance.now();
    record.firstChunkMs ??= Math.round((this.sentAtMs - record.startedMs) * 10) / 10;
    return raw.destroyed ? undefined : this.writeFrames(frames);
  }

  /** Writes the last frames of a stream. */
  end(frames: string): void {
    clearTimeout(this.keepAlive);
    const { raw } = this.reply;
    if (isAscii(frames)) raw.end(frames, 'latin1');
    else raw.end(Buffer.from(frames));
  }

  /** Sends a whole file. */
  async sendFile(own: HeaderValues, parts: readonly Uint8Array[]): Promise<void> {
    const { repeat } = this.request;
    if (repeat) {
      const headers = storedHeaders({ ...this.reply.getHeaders(), ...this.headers, ...own });
      await repeat.answered({ status: 200, headers, body: parts });
    }
    if (this.reply.raw.destroyed) return;
    this.beginFile(own);
    await this.writeBytes(parts);
    this.endFile();
  }

  /** Begins a file, which has no keep-alives. */
  beginFile(headers: HeaderValues): void {
    clearTimeout(this.deadline);
    if (!this.isGone) this.writeHead(headers);
  }

  /** Writes bytes of a file. Returns a promise as `write` does. */
  writeBytes(parts: readonly Uint8Array[]): Promise<void> | undefined {
    const { raw } = this.reply;
    const { record } = this.request;
    record.firstChunkMs ??= Math.round((performance.now() - record.startedMs) * 10) / 10;
    let goesOn = true;
    for (const part of parts) if (!raw.destroyed) goesOn = raw.write(part);
    return goesOn || raw.destroyed ? undefined : this.drained(raw);
  }

  endFile(): void {
    this.reply.raw.end();
  }

  /** Disconnects the client, so that what it has received cannot be taken for the whole. */
  breakOff(): void {
    const { raw } = this.reply;
    // Node keeps the head until the tick ends.
    raw.uncork();
    raw.destroy();
  }

  /** Writes a JSON document. Returns a promise if it is compressed first. */
  send(body: string): Promise<void> | undefined {
    const { repeat } = this.request;
    if (!repeat) return this.sendNow(body);
    const type = { 'content-type': JSON_TYPE };
    const headers = storedHeaders({ ...this.reply.getHeaders(), ...this.headers, ...type });
    return repeat
      .answered({ status: 200, headers, body: [Buffer.from(body)] })
      .then(() => this.sendNow(body));
  }

  private sendNow(body: string): Promise<void> | undefined {
    if (this.reply.raw.destroyed) return undefined;
    const encoding = chooseEncoding(this.request.headers['accept-encoding']);
    // A string is sent in one write with its head; bytes would take two.
    if (encoding !== undefined)
      return encode(body, encoding).then((bytes) => this.sendBytes(bytes, encoding));
    this.sendBytes(body);
    return undefined;
  }

  private abort(as: 'gone' | 'late', reason?: Problem): void {
    this.abortedAs ??= as;
    this.gone.abort(reason);
  }

  private sendBytes(bytes: string | Buffer, encoding?: Encoding): void {
    const size = Buffer.byteLength(bytes);
    this.writeHead({
      'content-type': JSON_TYPE,
      'content-length': size,
      ...(encoding !== undefined && { 'content-encoding': encoding, vary: 'accept-encoding' }),
    });
    // ASCII needs no encoding.
    if (typeof bytes === 'string' && size === bytes.length) this.reply.raw.end(bytes, 'latin1');
    else this.reply.raw.end(bytes);
  }

  /** Releases the connection, however the response ended. */
  close(): void {
    const { raw } = this.reply;
    clearTimeout(this.deadline);
    clearTimeout(this.keepAlive);
    this.hasEnded = true;
    if (this.goneAtMs !== undefined && this.isGone)
      inference.letGo.record((performance.now() - this.goneAtMs) / 1_000);
    if (this.reply.raw.destroyed && !this.reply.sent) this.reply.hijack();
    if (this.keepAlive && !raw.writableEnded) raw.end();
  }

  /** Checks for an idle stream at intervals, which costs less than resetting a timer at each chunk. */
  private keepAliveIn(ms: number): void {
    this.keepAlive = setTimeout(() => {
      const { GATEWAY_KEEP_ALIVE_MS: mostMs } = this.bounds;
      const leftMs = mostMs - (performance.now() - this.sentAtMs);
      if (leftMs <= 0) this.showLife();
      this.keepAliveIn(leftMs <= 0 ? mostMs : Math.ceil(leftMs));
    }, ms);
  }

  private showLife(): void {
    const { raw } = this.reply;
    const isBlocked = raw.writableNeedDrain || raw.socket?.writableNeedDrain === true;
    if (!raw.destroyed && !isBlocked) void this.writeFrames(this.keepAliveFrame);
    this.sentAtMs = performance.now();
  }

  /**
   * Returns a promise if the client must read first. After the head, a chunk goes to the socket with its
   * framing in one buffer. Node's response would write three, in a later tick, which costs a quarter more
   * CPU. It takes over where it must buffer: in the tick of the head, which Node keeps until the tick ends,
   * behind the previous response of a pipelined connection, and for HTTP/1.0, which has no chunks.
   */
  private writeFrames(frames: string): Promise<void> | undefined {
    const { raw } = this.reply;
    const { socket } = raw;
    if (this.isHeadWritten && raw.writableCorked === 0 && raw.chunkedEncoding && socket) {
      const size = Buffer.byteLength(frames);
      const chunk = `${size.toString(16)}\r\n${frames}\r\n`;
      // Most frames are ASCII, which Node writes without a buffer and without encoding it.
      const goesOn =
        size === frames.length ? socket.write(chunk, 'latin1') : socket.write(Buffer.from(chunk));
      return goesOn ? undefined : this.drained(socket);
    }
    this.isHeadWritten = true;
    const goesOn = isAscii(frames) ? raw.write(frames, 'latin1') : raw.write(Buffer.from(frames));
    return goesOn ? undefined : this.drained(raw);
  }

  private writeHead(own: HeaderValues): void {
    const { reply } = this;
    const length = append(own, append(this.headers, append(reply.getHeaders(), 0)));
    head.length = length;
    reply.hijack();
    reply.raw.writeHead(200, head as string[]);
  }

  /** Waits until the client has read enough to continue. */
  private async drained(writable: Writable): Promise<void> {
    const { signal } = this;
    try {
      await within(this.bounds.GATEWAY_CLIENT_IDLE_TIMEOUT_MS, once(writable, 'drain', { signal }));
    } catch {
      this.reply.raw.destroy();
    }
  }
}

/** ASCII is written without a buffer, and without encoding it. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** The names and values of the head that is being written. Node does not keep them. */
const head: (string | number)[] = [];

/** Puts names and values into the head from a place on. Returns where they end. */
function append(values: Readonly<Record<string, unknown>>, from: number): number {
  let at = from;
  for (const name of Object.keys(values)) {
    head[at] = name;
    head[at + 1] = values[name] as string | number;
    at += 2;
  }
  return at;
}

/**
 * Node keeps the head of a response until its end, put together from a hundred pieces. A search turns them
 * into one string, which takes 2.5 KB less for each open stream.
 */
function joinHead(raw: ServerResponse): void {
  const { _header: head } = raw as { readonly _header?: unknown };
  if (typeof head === 'string') HEAD_END.test(head);
}

const ignore = (): void => undefined;
