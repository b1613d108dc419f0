import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { Problem } from '@svc/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BODY_BOUNDS, type BodyBounds, BodyBudget } from './body-budget.js';
import { type Form, readForm } from './form-data.js';
import { IncomingBody } from './incoming-body.js';
import { type ReadJson, readJson } from '../json/read-json.js';
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

/**
 * Receives request bodies: JSON, or a form or bytes if the route says so, and only for routes that have a
 * body. There is a limit for all bodies being received, one for each caller's share, and for each body a
 * deadline that grows with the bytes received.
 */
export class Bodies {
  private readonly bounds: BodyBounds;
  private readonly budget: BodyBudget;
  private readonly coming = new Set<IncomingBody>();
  private readonly discarded = new Map<IncomingMessage, Discarded>();

  constructor(bounds: Partial<BodyBounds> = {}) {
    this.bounds = { ...BODY_BOUNDS, ...bounds };
    this.budget = new BodyBudget(this.bounds);
  }

  /** Bytes of all bodies being received. */
  get heldBytes(): number {
    return this.budget.heldBytes;
  }

  addTo(fastify: FastifyInstance): void {
    fastify.decorateRequest('bodyJson', null);
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('application/json', this.receive);
    fastify.addContentTypeParser('*', this.receive);
    fastify.addHook('onResponse', (request, _reply, next) => {
      if (!request.raw.complete) this.discardRest(request.raw);
      next();
    });
    const sweeping = setInterval(() => this.sweep(), Math.min(SWEEP_MS, this.bounds.graceMs)).unref();
    fastify.addHook('onClose', (_instance, next) => {
      clearInterval(sweeping);
      next();
    });
  }

  private readonly receive = (request: FastifyRequest, payload: Readable, done: Done): void => {
    const route = routeOf(request);
    if (!route?.body) {
      done(null);
      return;
    }
    const { bodyType = 'application/json' } = route;
    if (typeOf(request) !== bodyType) {
      done(new Problem('INVALID_CONTENT_TYPE'));
      return;
    }
    const incoming = new IncomingBody({
      request,
      budget: this.budget,
      limitBytes: route.bodyLimitBytes ?? BODY_LIMIT_BYTES,
      isJson: route.bodyType === undefined,
      done: (problem, bytes) => {
        this.coming.delete(incoming);
        if (problem) refuse(payload, problem, done);
        else if (bodyType === 'multipart/form-data') giveForm(request, bytes, done);
        else if (route.bodyType !== undefined) done(null, bytes);
        else parse(request, bytes, done);
      },
    });
    if (!incoming.admits(Number(request.headers['content-length'] ?? 0))) return;
    const stream = decoded(payload, request.headers['content-encoding']);
    if (stream) {
      this.coming.add(incoming);
      incoming.readFrom(stream);
    } else incoming.end(new Problem('INVALID_CONTENT_ENCODING'));
  };

  /** Discards what a client still sends after the response, up to a limit and a deadline. */
  private discardRest(message: IncomingMessage): void {
    const { socket } = message;
    if (!socket.destroyed)
      this.discarded.set(message, { sinceMs: performance.now(), sinceBytes: socket.bytesRead });
  }

  private sweep(): void {
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
  }
}

/** The media type without parameters. */
function typeOf({ headers }: FastifyRequest): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
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

function giveForm({ headers }: FastifyRequest, bytes: Buffer, done: Done): void {
  const take = (form: Form): void => done(null, form);
  const refuse = (error: unknown): void => done(Problem.from(error));
  void readForm(bytes, headers['content-type'] ?? '').then(take, refuse);
}

function parse(request: FastifyRequest, bytes: Buffer, done: Done): void {
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
