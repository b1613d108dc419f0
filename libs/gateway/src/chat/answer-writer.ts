import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding, encode } from '../http/content-encoding.js';
import { GatewaySettings } from '../gateway.config.js';
import type { ChatAnswer } from './inference.js';
import type { StreamedAnswer } from '../answer/streamed-answer.js';

const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

/** What a stopping process gives answers whose clients were cut off, to settle what they delivered. */
const SETTLE_ON_STOP_MS = 5_000;

interface Client {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Writes answers to clients as fast as they read, and tells the pipeline when one has gone. */
@Injectable()
export class AnswerWriter implements BeforeApplicationShutdown {
  private readonly underWay = new Set<Promise<void>>();

  constructor(private readonly settings: GatewaySettings) {}

  /** Resolves when the answer is written and settled, or its client has gone and what was delivered is settled. */
  async write(client: Client, answer: (signal: AbortSignal) => Promise<ChatAnswer>): Promise<void> {
    const writing = this.writeAnswer(client, answer);
    this.underWay.add(writing);
    try {
      await writing;
    } finally {
      this.underWay.delete(writing);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(deadline.resolve, SETTLE_ON_STOP_MS);
    await Promise.race([Promise.allSettled(this.underWay), deadline.promise]);
    clearTimeout(timer);
  }

  private async writeAnswer(
    { request, reply }: Client,
    answer: (signal: AbortSignal) => Promise<ChatAnswer>,
  ): Promise<void> {
    const { raw } = reply;
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    const deadline = setTimeout(
      () => gone.abort(new Problem('REQUEST_TIMEOUT')),
      this.settings.config.GATEWAY_ANSWER_TIMEOUT_MS,
    );
    raw.once('close', onClose);
    // A socket that fails closes the answer, which is what is listened to.
    raw.on('error', () => undefined);
    try {
      const given = await answer(gone.signal).finally(() => clearTimeout(deadline));
      // From here on the answer is written past Fastify, which would otherwise wrap each stream in its own.
      if (typeof given === 'string') {
        await sendWhole({ request, reply }, given);
      } else {
        reply.hijack();
        await this.sendStream(raw, given, request);
      }
    } catch (error) {
      if (gone.signal.reason instanceof Problem) throw gone.signal.reason;
      if (!gone.signal.aborted) throw error;
      request.record.ended = 'client_gone';
      reply.hijack();
    } finally {
      raw.off('close', onClose);
    }
  }

  private async sendStream(
    raw: ServerResponse,
    answer: StreamedAnswer,
    request: FastifyRequest,
  ): Promise<void> {
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const keepAlive = setInterval(() => {
      if (!raw.destroyed && !raw.writableNeedDrain) raw.write(KEEP_ALIVE_FRAME);
    }, this.settings.config.GATEWAY_KEEP_ALIVE_MS);
    try {
      for await (const frames of answer.frames()) {
        request.record.firstChunkMs ??= Math.round((performance.now() - request.record.startedMs) * 10) / 10;
        if (raw.destroyed) break;
        if (!raw.write(frames)) await this.drained(raw);
        keepAlive.refresh();
      }
    } finally {
      clearInterval(keepAlive);
      raw.end();
    }
  }

  /** Waits until the client has read on. One that does not for too long is cut off. */
  private async drained(raw: ServerResponse): Promise<void> {
    const stalled = AbortSignal.timeout(this.settings.config.GATEWAY_CLIENT_STALL_MS);
    const closed = new AbortController();
    const onClose = (): void => closed.abort();
    raw.once('close', onClose);
    try {
      await once(raw, 'drain', { signal: AbortSignal.any([stalled, closed.signal]) });
    } catch {
      raw.destroy();
    } finally {
      raw.off('close', onClose);
    }
  }
}

async function sendWhole({ request, reply }: Client, body: string): Promise<void> {
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  // A string goes out in one write with its head; bytes would take two.
  const bytes = encoding === undefined ? body : await encode(body, encoding);
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(bytes),
    ...(encoding !== undefined && { 'content-encoding': encoding, vary: 'accept-encoding' }),
  });
  reply.raw.end(bytes);
}
