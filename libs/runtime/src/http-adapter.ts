import { hostname } from 'node:os';
import { Problem, errorBody } from '@svc/contracts';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from './logging.js';
import { newId } from './request-id.js';
import { type RequestRecord, requestLine } from './request-record.js';
import { VERSION } from './version.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where it was JSON. */
    bodyText: string;
    /** What the log line of this request will say. */
    record: RequestRecord;
  }
}

/** The body of a request may have this many bytes (35 MB, the contract's limit). */
export const BODY_LIMIT_BYTES = 35_000_000;

export interface HttpOptions {
  readonly logger: Logger;
  /** Whether a request came in on the operator's port. */
  readonly isOperatorPort: (port: number | undefined) => boolean;
  /** Addresses of proxies, by commas, that are believed about who the client is. */
  readonly trustedProxies: string | undefined;
  /** Whether the process is stopping: new requests are refused, those under way finish. */
  readonly isStopping: () => boolean;
}

const hostName = hostname();
const CHAT_PATH = '/api/v1/chat/completions';

/** A request's id. A chat completion's is also the id in its body, so it looks as OpenAI's do. */
function requestId(request: { url?: string | undefined }): string {
  return `${request.url?.startsWith(CHAT_PATH) ? 'chatcmpl-' : 'req-'}${newId()}`;
}

/** Fastify under Nest, with what every request of every process goes through. */
export function createHttpAdapter(options: HttpOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: requestId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies === undefined ? false : options.trustedProxies.split(','),
    forceCloseConnections: true,
    // Time to receive a whole request. Answers have no such limit, since streams are long.
    requestTimeout: 120_000,
    keepAliveTimeout: 75_000,
    routerOptions: { maxParamLength: 200 },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('bodyText', '');
  // Every request gets its own record in the first hook.
  fastify.decorateRequest('record', null as unknown as RequestRecord);
  addHooks(fastify, options);
  addBodyParser(fastify);
  return adapter;
}

function addHooks(fastify: FastifyInstance, options: HttpOptions): void {
  fastify.addHook('onRequest', (request, reply, next) => {
    request.record = { startedMs: performance.now() };
    const { raw } = reply;
    raw.setHeader('x-svc-version', VERSION);
    raw.setHeader('CF-RAY', request.id);
    raw.setHeader('x-request-id', request.id);
    request.socket.setNoDelay(true);
    if (options.isStopping()) {
      raw.setHeader('connection', 'close');
      next(new Problem('UNAVAILABLE'));
      return;
    }
    const operatorPath = request.url.startsWith('/operator/');
    const operatorSide = options.isOperatorPort(request.socket.localPort);
    const anywhere = request.url === '/healthz' || request.url === '/readyz';
    next(operatorPath === operatorSide || anywhere ? undefined : new Problem('NOT_FOUND'));
  });
  fastify.addHook('onResponse', (request, reply, next) => {
    options.logger.info(requestLine(request, reply.raw.statusCode), 'request');
    next();
  });
}

/** JSON is the one content type that is taken. */
function addBodyParser(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    request.bodyText = String(body);
    // Who deletes often names the type of a body that is not there.
    if (request.bodyText === '' && request.method === 'DELETE') {
      done(null);
      return;
    }
    try {
      done(null, JSON.parse(request.bodyText));
    } catch (error) {
      done(new Problem('INVALID_JSON', { cause: error }));
    }
  });
}

/** Answers with a problem, as far as that is still possible. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  request.record.problem = problem;
  if (reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  if (problem.retryAfterSeconds !== undefined) reply.header('retry-after', String(problem.retryAfterSeconds));
  reply.header('x-svc-host-name', hostName);
  // A connection that closes while its client still sends shows that client a broken pipe and not the answer.
  if (problem.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
  void reply
    .status(problem.status)
    .header('content-type', 'application/json')
    .send(JSON.stringify(errorBody(problem)));
}
