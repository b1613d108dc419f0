import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { encryptionHeaders } from '@svc/api/tee';
import {
  RequestSteps,
  nameRequest,
  newId,
  routeOf,
  within,
  type Incoming,
  type Outgoing,
} from '@svc/runtime';
import type { Caller } from '@svc/contracts/ports';
import type { FastifyInstance } from 'fastify';
import { BackgroundWork } from '../http/background-work.js';
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

/** A request with an `Idempotency-Key`. */
interface Keyed {
  readonly request: Incoming;
  readonly reply: Outgoing;
  readonly caller: Caller;
  readonly key: string;
}

/**
 * Gives the response of the first request with an `Idempotency-Key` to its repetitions, on every route that
 * has this header. Routes know nothing of it, except those whose effects last even without a charge.
 */
@Injectable()
export class RepeatHooks implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly steps: RequestSteps,
    private readonly requests: RepeatedRequests,
    private readonly background: BackgroundWork,
  ) {}

  onModuleInit(): void {
    this.host.httpAdapter.getInstance<FastifyInstance>().decorateRequest('repeat', undefined);
    this.steps.beforeHandler((request, reply) => {
      const { caller, headers } = request;
      if (!caller || routeOf(request)?.admitted !== 'once') return true;
      const key = idempotencyKey(headers['idempotency-key']);
      return key === undefined || this.claim({ request, reply, caller, key });
    });
    this.steps.beforeSend(async (request, reply, payload) => {
      if (request.repeat instanceof ClaimedRequest) await keep(request.repeat, reply, payload);
    });
  }

  /** Whether the request is to be made: not if it was made before, and its response is given again. */
  private async claim({ request, reply, caller, key }: Keyed): Promise<boolean> {
    const claim = await this.requests.claim({
      accountId: caller.accountId,
      key,
      digest: digestOf(await partsOf(request)),
      requestId: request.id,
      // What is encrypted for a client is for its eyes alone.
      mayStore: encryptionHeaders(request.headers) === undefined,
    });
    if (!(claim instanceof ClaimedRequest)) {
      replay(claim, reply);
      return false;
    }
    this.take(claim, request, reply);
    reply.raw.once('close', () => void this.background.track(end(request, reply)));
    if (routeOf(request)?.ordersJob !== true) await this.afresh(request, reply);
    return true;
  }

  /**
   * Gives a request another id if an earlier process has stored its charge, which is given back. Refuses:
   * REQUEST_IN_PROGRESS, UNAVAILABLE.
   */
  async afresh(request: Incoming, reply: Outgoing): Promise<void> {
    const { repeat } = request;
    if (!(repeat instanceof ClaimedRequest) || !repeat.earlierCharge) return;
    const requestId = `${routeOf(request)?.idPrefix ?? 'req-'}${newId()}`;
    this.take(await this.requests.afresh(repeat, requestId), request, reply);
  }

  private take(claim: ClaimedRequest, request: Incoming, reply: Outgoing): void {
    request.repeat = claim;
    if (claim.isTakenOver) nameRequest(request, reply, claim.requestId);
  }
}

async function end({ repeat, record }: Incoming, reply: Outgoing): Promise<void> {
  if (!(repeat instanceof ClaimedRequest)) return;
  await record.underWay?.over;
  // Its client has left, and its response is about to be stored.
  if (!reply.sent) await within(ANSWER_MS, repeat.whenEnded).catch(() => undefined);
  await repeat.ended(reply.raw.headersSent && reply.raw.statusCode < 300);
}

/** What makes it the same request: its route, and its body as it was read. */
async function partsOf({ method, url, bodyJson, body }: Incoming): Promise<(string | Uint8Array)[]> {
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

async function keep(repeat: ClaimedRequest, reply: Outgoing, payload: unknown): Promise<void> {
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
async function wholeOf(reply: Outgoing, payload: unknown): Promise<Uint8Array | undefined> {
  if (payload === undefined || payload === null) return new Uint8Array();
  if (typeof payload === 'string') return Buffer.from(payload);
  if (!(payload instanceof Uint8Array)) return undefined;
  const encoding = reply.getHeader('content-encoding');
  if (encoding === undefined) return payload;
  return DECODERS[encoding.toString()]?.(Buffer.from(payload));
}

function replay({ status, headers, body }: StoredResponse, reply: Outgoing): void {
  reply.status(status).headers({ ...headers, 'idempotent-replayed': 'true' });
  reply.send(status === 204 ? undefined : Buffer.concat(body));
}
