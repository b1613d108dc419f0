import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { nameRequest, routeOf, within } from '@svc/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BackgroundWork } from '../http/background-work.js';
import { encryptionHeaders } from '../http/encryption-headers.js';
import { idempotencyKey } from '../http/idempotency-key.js';
import type { StoredResponse } from '../http/repeat.js';
import { storedHeaders } from '../http/stored-headers.js';
import { ClaimedRequest, RepeatedRequests } from './repeated-requests.js';
import { digestOf } from './sealed-answer.js';

/** How long the response to a client that has left may take once it is charged. */
const ANSWER_MS = 5_000;

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
};

/**
 * Gives the response of the first request with an `Idempotency-Key` to its repetitions, on every route that
 * has this header. Routes know nothing of it, except those whose effects last even without a charge.
 */
@Injectable()
export class RepeatHooks implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly requests: RepeatedRequests,
    private readonly background: BackgroundWork,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.decorateRequest('repeat', undefined);
    // Runs after validation, which is an earlier hook.
    fastify.addHook('preHandler', async (request, reply) => {
      const answer = await this.claimed(request, reply);
      if (answer) {
        await replay(answer, reply);
        return reply;
      }
      return undefined;
    });
    fastify.addHook('onSend', async (request, reply, payload) => {
      if (request.repeat instanceof ClaimedRequest) await keep(request.repeat, reply, payload);
    });
  }

  private async claimed(request: FastifyRequest, reply: FastifyReply): Promise<StoredResponse | undefined> {
    const { caller, headers } = request;
    if (!caller || routeOf(request)?.admitted !== 'once') return undefined;
    const key = idempotencyKey(headers['idempotency-key']);
    if (key === undefined) return undefined;
    const claim = await this.requests.claim({
      accountId: caller.accountId,
      key,
      digest: digestOf(await partsOf(request)),
      requestId: request.id,
      // What is encrypted for a client is for its eyes alone.
      mayStore: encryptionHeaders(headers) === undefined,
    });
    if (!(claim instanceof ClaimedRequest)) return claim;
    request.repeat = claim;
    // A request that is taken over keeps the id under which it may have been charged.
    if (claim.isTakenOver) nameRequest(request, reply, claim.requestId);
    const end = async (): Promise<void> => {
      await request.record.underWay;
      // Its client has left, and its response is about to be stored.
      if (!reply.sent) await within(ANSWER_MS, claim.whenEnded).catch(() => undefined);
      await claim.ended(reply.raw.headersSent && reply.raw.statusCode < 300);
    };
    reply.raw.once('close', () => void this.background.track(end()));
    return undefined;
  }
}

/** What makes it the same request: its route, and its body as it was read. */
async function partsOf({ method, url, bodyJson, body }: FastifyRequest): Promise<(string | Uint8Array)[]> {
  const route = `${method} ${url}\n`;
  if (bodyJson) return [route, ...(await bodyJson.strings.bytesOf(bodyJson.text))];
  if (body instanceof Uint8Array) return [route, body];
  // The members of a form: its boundary changes with every repetition.
  const files: Uint8Array[] = [];
  const text = JSON.stringify(body ?? null, function (this: Readonly<Record<string, unknown>>, name, value) {
    const given = this[name];
    if (!(given instanceof Uint8Array)) return value as unknown;
    files.push(given);
    return { bytes: given.length };
  });
  return [route, text, ...files];
}

async function keep(repeat: ClaimedRequest, reply: FastifyReply, payload: unknown): Promise<void> {
  const { statusCode: status } = reply;
  if (status >= 300) {
    await repeat.ended(false);
    return;
  }
  const whole = await wholeOf(reply, payload);
  const headers = storedHeaders(reply.getHeaders());
  if (whole) await repeat.answered({ status, headers, body: [whole] });
}

/** The bytes of a response before it was compressed; undefined if it is a stream. */
async function wholeOf(reply: FastifyReply, payload: unknown): Promise<Uint8Array | undefined> {
  if (payload === undefined || payload === null) return new Uint8Array();
  if (typeof payload === 'string') return Buffer.from(payload);
  if (!(payload instanceof Uint8Array)) return undefined;
  const encoding = reply.getHeader('content-encoding');
  if (encoding === undefined) return payload;
  return DECODERS[encoding.toString()]?.(Buffer.from(payload));
}

async function replay({ status, headers, body }: StoredResponse, reply: FastifyReply): Promise<void> {
  reply.status(status).headers({ ...headers, 'idempotent-replayed': 'true' });
  await reply.send(status === 204 ? undefined : Buffer.concat(body));
}
