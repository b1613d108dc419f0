import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { Problem } from '@svc/contracts/problems';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { BODY_BOUNDS, type BodyBounds, BodyBudget } from './body-budget.js';
import { type Form, readForm } from '../forms/form-data.js';
import { formShapeOf } from '../forms/form-shape.js';
import { streamedBody } from '../forms/streamed-body.js';
import type { Incoming } from './incoming.js';
import { IncomingBody } from './incoming-body.js';
import { type ReadJson, readJson } from '../json/read-json.js';
import { PassingSet } from '../passing.js';
import { routeOf } from './route.js';

type Done = (error: Error | null, body?: unknown) => void;

/** The default size limit of a body. */
const BODY_LIMIT_BYTES = 65_536;

/** How often the rate of incoming bodies is checked. */
const SWEEP_MS = 1_000;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** A connection whose client is still sending a rejected body. */
interface Discarded {
  readonly sinceMs: number;
  readonly sinceBytes: number;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data';

/**
 * Receives request bodies: JSON, or a form or bytes if the route says so, and only for routes that have a
 * body. There is a limit for all bodies being received, one for each caller's share, and for each body a
 * deadline that grows with the bytes received. Forms count against these limits until their responses end.
 */
export class Bodies {
  private readonly bounds: BodyBounds;
  private readonly budget: BodyBudget;
  private readonly coming = new PassingSet<IncomingBody>();
  private readonly discarded = new Map<IncomingMessage, Discarded>();
  private readonly kept = new WeakMap<Incoming, () => void>();
  /** Set while a client is sending something. */
  private sweeping: NodeJS.Timeout | undefined;

  constructor(bounds: Partial<BodyBounds> = {}) {
    this.bounds = { ...BODY_BOUNDS, ...bounds };
    this.budget = new BodyBudget(this.bounds);
  }

  /** Bytes of all bodies being received or kept. */
  get heldBytes(): number {
    return this.budget.heldBytes;
  }

  addTo(fastify: FastifyInstance): void {
    fastify.decorateRequest('bodyJson', null);
    fastify.decorateRequest('bodyStream', undefined);
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser(JSON_TYPE, this.receive);
    fastify.addContentTypeParser('*', this.receive);
  }

  /** Reads the body of a request from `payload`, and calls `done` with its value or a problem. */
  readonly receive = (request: Incoming, payload: Readable, done: Done): void => {
    const { body, bodyType = JSON_TYPE, bodyLimitBytes, keepsBody, streamsBody } = routeOf(request) ?? {};
    if (!body) {
      done(null);
      return;
    }
    const type = typeOf(request);
    if (type === undefined || !(typeof bodyType === 'string' ? bodyType === type : bodyType.includes(type))) {
      done(new Problem('INVALID_CONTENT_TYPE'));
      return;
    }
    if (streamsBody) {
      this.stream(request, payload, done);
      return;
    }
    const isKept = type === FORM_TYPE || keepsBody === true;
    const incoming = new IncomingBody({
      request,
      budget: this.budget,
      limitBytes: bodyLimitBytes ?? BODY_LIMIT_BYTES,
      isJson: type === JSON_TYPE,
      isKept,
      done: (problem, bytes) => {
        this.coming.delete(incoming);
        if (problem) {
          refuse(payload, problem, done);
          return;
        }
        if (isKept) this.keep(request, incoming);
        if (type === FORM_TYPE) giveForm(request, { bytes, schema: body }, done);
        else if (type === JSON_TYPE) parse(request, bytes, done);
        else done(null, bytes);
      },
    });
    if (!incoming.admits(Number(request.headers['content-length'] ?? 0))) return;
    const stream = decoded(payload, request.headers['content-encoding']);
    if (stream) {
      this.coming.add(incoming);
      this.sweepSoon();
      incoming.readFrom(stream);
    } else incoming.end(new Problem('INVALID_CONTENT_ENCODING'));
  };

  /** Leaves a body to the handler, which reads it. */
  private stream(request: Incoming, payload: Readable, done: Done): void {
    const limitBytes = routeOf(request)?.bodyLimitBytes ?? BODY_LIMIT_BYTES;
    const isTooLarge = Number(request.headers['content-length'] ?? 0) > limitBytes;
    const stream = decoded(payload, request.headers['content-encoding']);
    if (isTooLarge) refuse(payload, new Problem('PAYLOAD_TOO_LARGE'), done);
    else if (!stream) refuse(payload, new Problem('INVALID_CONTENT_ENCODING'), done);
    else {
      request.bodyStream = streamedBody(stream, this.bounds, limitBytes);
      done(null);
    }
  }

  /** Called when the response of a request has ended. */
  ended(request: Incoming): void {
    this.kept.get(request)?.();
    if (!request.raw.complete) this.discardRest(request.raw);
  }

  /** Counts the bytes of a body until the response has been sent or the client has disconnected. */
  private keep(request: Incoming, incoming: IncomingBody): void {
    const { socket } = request.raw;
    const free = (): void => {
      socket.off('close', free);
      this.kept.delete(request);
      incoming.free();
    };
    this.kept.set(request, free);
    if (socket.destroyed) free();
    else socket.once('close', free);
  }

  /** Discards what a client still sends after the response, up to a limit and a deadline. */
  private discardRest(message: IncomingMessage): void {
    const { socket } = message;
    if (socket.destroyed) return;
    this.discarded.set(message, { sinceMs: performance.now(), sinceBytes: socket.bytesRead });
    this.sweepSoon();
  }

  private sweepSoon(): void {
    this.sweeping ??= setTimeout(() => this.sweep(), Math.min(SWEEP_MS, this.bounds.graceMs)).unref();
  }

  private sweep(): void {
    this.sweeping = undefined;
    const nowMs = performance.now();
    for (const incoming of this.coming) incoming.refuseLate(nowMs, this.bounds);
    const { graceMs, bytesPerSecond, discardBytes } = this.bounds;
    for (const [message, { sinceMs, sinceBytes }] of this.discarded) {
      const { socket } = message;
      const bytes = socket.bytesRead - sinceBytes;
      const isLate = nowMs - sinceMs > graceMs + (bytes / bytesPerSecond) * 1_000;
      if (!message.complete && (isLate || bytes > discardBytes)) socket.destroy();
      if (message.complete || socket.destroyed) this.discarded.delete(message);
    }
    if (this.coming.size + this.discarded.size > 0) this.sweepSoon();
  }
}

/** The media type without parameters. */
function typeOf({ headers }: Incoming): string | undefined {
  const { 'content-type': type } = headers;
  return type === JSON_TYPE ? type : type?.split(';', 1)[0]?.trim().toLowerCase();
}

/** `undefined` for an unsupported encoding. */
function decoded(payload: Readable, encoding: string | undefined): Readable | undefined {
  if (encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity') return payload;
  const decoder = DECODERS[encoding.toLowerCase()]?.();
  if (!decoder) return undefined;
  // A plain pipe would end the connection when a decoder fails, and not end the decoder when the client
  // disconnects.
  payload.once('error', (error) => decoder.destroy(error));
  return payload.pipe(decoder);
}

/** The rest is read and discarded: a client does not see the response on a connection that is left unread. */
function refuse(payload: Readable, problem: Error, done: Done): void {
  payload.unpipe();
  payload.resume();
  done(problem);
}

function giveForm(
  { headers }: Incoming,
  { bytes, schema }: { readonly bytes: Buffer; readonly schema: z.ZodType },
  done: Done,
): void {
  const take = (form: Form): void => done(null, form);
  const refuse = (error: unknown): void => done(Problem.from(error));
  void readForm(bytes, headers['content-type'] ?? '', formShapeOf(schema)).then(take, refuse);
}

function parse(request: Incoming, bytes: Buffer, done: Done): void {
  // Clients often set a content type on a DELETE without a body.
  if (bytes.length === 0 && request.method === 'DELETE') {
    done(null);
    return;
  }
  const take = ({ json, value }: ReadJson): void => {
    request.bodyJson = json;
    done(null, value);
  };
  const refuse = (error: unknown): void =>
    done(error instanceof Problem ? error : new Problem('INVALID_JSON', { cause: error }));
  let read: ReadJson | Promise<ReadJson>;
  try {
    read = readJson(bytes);
  } catch (error) {
    refuse(error);
    return;
  }
  if (read instanceof Promise) void read.then(take, refuse);
  else take(read);
}
