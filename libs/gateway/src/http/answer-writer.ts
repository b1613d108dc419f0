import { once } from 'node:events';
import { Problem } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';
import { chooseEncoding, encode } from './content-encoding.js';
import type { HeaderValues } from './header-values.js';

const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

const STREAM_HEADERS: HeaderValues = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

type Bounds = Pick<
  GatewayConfig,
  'GATEWAY_ANSWER_TIMEOUT_MS' | 'GATEWAY_FIRST_SIGN_MS' | 'GATEWAY_KEEP_ALIVE_MS' | 'GATEWAY_CLIENT_STALL_MS'
>;

/**
 * Writes one answer to one client as fast as it reads, past Fastify, which would wrap each stream in its own. The
 * head goes out with the first bytes.
 */
export class AnswerWriter {
  /** What the answer's head will say beside what every answer of the service does. A refusal says it as well. */
  readonly headers: HeaderValues = {};
  private readonly gone = new AbortController();
  private readonly deadline: NodeJS.Timeout;
  private keepAlive: NodeJS.Timeout | undefined;
  private readonly onClose = (): void => this.gone.abort();

  constructor(
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly bounds: Bounds,
  ) {
    const { raw } = reply;
    raw.once('close', this.onClose);
    // A socket that fails closes the answer, which is what is listened to.
    raw.on('error', () => undefined);
    this.deadline = setTimeout(
      () => this.gone.abort(new Problem('REQUEST_TIMEOUT')),
      bounds.GATEWAY_ANSWER_TIMEOUT_MS,
    );
  }

  /** Aborted when the client has gone, or with a `Problem` as its reason when its answer takes too long to begin. */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get isGone(): boolean {
    const { signal } = this.gone;
    return signal.aborted ? !(signal.reason instanceof Problem) : this.reply.raw.destroyed;
  }

  /** Whether the answer is a stream that has begun, so that what goes wrong can only be told in it. */
  get isStreaming(): boolean {
    return this.keepAlive !== undefined;
  }

  /** Begins a stream, which from then on says that it lives while nothing flows. */
  begin(): void {
    if (this.keepAlive || this.isGone) return;
    clearTimeout(this.deadline);
    this.writeHead(STREAM_HEADERS);
    this.keepAlive = setInterval(() => this.showLife(), this.bounds.GATEWAY_KEEP_ALIVE_MS);
  }

  /** Waits for what a stream begins with. Where it takes long the client is shown that it is waited for. */
  async beginWith<T>(first: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.begin();
      this.showLife();
    }, this.bounds.GATEWAY_FIRST_SIGN_MS);
    try {
      return await first;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes frames of a stream. A promise where the client has to read on first: one that does not is cut off. */
  write(frames: string): Promise<void> | undefined {
    const { raw } = this.reply;
    const { record } = this.request;
    record.firstChunkMs ??= Math.round((performance.now() - record.startedMs) * 10) / 10;
    if (raw.destroyed) return undefined;
    this.keepAlive?.refresh();
    return raw.write(frames) ? undefined : this.drained();
  }

  /** Writes the last frames of a stream. */
  end(frames: string): void {
    clearInterval(this.keepAlive);
    this.reply.raw.end(frames);
  }

  /** Writes an answer that is a JSON document. */
  async send(body: string): Promise<void> {
    const encoding = chooseEncoding(this.request.headers['accept-encoding']);
    // A string goes out in one write with its head; bytes would take two.
    const bytes = encoding === undefined ? body : await encode(body, encoding);
    this.writeHead({
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(bytes),
      ...(encoding !== undefined && { 'content-encoding': encoding, vary: 'accept-encoding' }),
    });
    this.reply.raw.end(bytes);
  }

  /** Lets go of the client, whatever became of its answer. */
  close(): void {
    const { raw } = this.reply;
    clearTimeout(this.deadline);
    clearInterval(this.keepAlive);
    raw.off('close', this.onClose);
    if (this.isGone && !this.reply.sent) this.reply.hijack();
    if (this.keepAlive && !raw.writableEnded) raw.end();
  }

  private showLife(): void {
    const { raw } = this.reply;
    if (!raw.destroyed && !raw.writableNeedDrain) raw.write(KEEP_ALIVE_FRAME);
  }

  private writeHead(own: HeaderValues): void {
    const { reply } = this;
    const head: (string | number)[] = [];
    for (const values of [reply.getHeaders(), this.headers, own])
      for (const [name, value] of Object.entries(values)) head.push(name, value as string | number);
    reply.hijack();
    reply.raw.writeHead(200, head as string[]);
  }

  /** Waits until the client has read on. */
  private async drained(): Promise<void> {
    const { raw } = this.reply;
    const stalled = AbortSignal.timeout(this.bounds.GATEWAY_CLIENT_STALL_MS);
    try {
      await once(raw, 'drain', { signal: AbortSignal.any([stalled, this.signal]) });
    } catch {
      raw.destroy();
    }
  }
}
