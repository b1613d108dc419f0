import { hostname } from 'node:os';
import { Problem, errorBody } from '@svc/contracts';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logging.js';
import { type AccessControl, isServedOn } from './access.js';
import type { Bodies } from './bodies.js';
import { newId } from './request-id.js';
import { type RequestRecord, requestLine } from './request-record.js';
import { routeOf } from './route.js';
import { validateRequest } from './validation.js';
import { VERSION } from '../version.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log line of this request will say. */
    record: RequestRecord;
    /** Whether it came in on the operator's port. */
    operatorSide: boolean;
  }
}

export interface HttpOptions {
  readonly logger: Logger;
  readonly access: AccessControl;
  readonly bodies: Bodies;
  /** Whether a request came in on the operator's port. */
  readonly isOperatorPort: (port: number | undefined) => boolean;
  /** Addresses of proxies, by commas, that are believed about who the client is. */
  readonly trustedProxies: string | undefined;
  /** Whether the process is stopping: new requests are refused, those under way finish. */
  readonly isStopping: () => boolean;
}

const hostName = hostname();

/** Fastify under Nest, with what every request of every process goes through. */
export function createHttpAdapter(options: HttpOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    logger: false,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies === undefined ? false : options.trustedProxies.split(','),
    forceCloseConnections: true,
    // Time to receive a whole request, beyond the deadline of its body. Answers have no such limit.
    requestTimeout: 300_000,
    http: { headersTimeout: 20_000 },
    keepAliveTimeout: 75_000,
    routerOptions: { maxParamLength: 200 },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('operatorSide', false);
  // Every request gets its own record in the first hook.
  fastify.decorateRequest('record', null as unknown as RequestRecord);
  addHooks(fastify, options);
  options.bodies.addTo(fastify);
  return adapter;
}

function addHooks(fastify: FastifyInstance, options: HttpOptions): void {
  fastify.addHook('onRoute', options.access.onRoute);
  // Who may pass is settled before a body is read: what a stranger sends costs more to read than to turn away.
  fastify.addHook('onRequest', (request, reply, next) => {
    const route = routeOf(request);
    begin(request, reply);
    if (options.isStopping()) {
      reply.header('connection', 'close');
      next(new Problem('UNAVAILABLE'));
      return;
    }
    request.operatorSide = options.isOperatorPort(request.socket.localPort);
    if (!route || !isServedOn(route.access, request.operatorSide)) next(new Problem('NOT_FOUND'));
    else options.access.enter(route, { request, reply, next });
  });
  fastify.addHook('preHandler', validateRequest);
  fastify.addHook('onResponse', (request, reply, next) => {
    options.logger.info(requestLine(request, reply.raw.statusCode), 'request');
    next();
  });
}

/** Gives a request its id and its record, and its answer the headers of every answer. */
function begin(request: FastifyRequest, reply: FastifyReply): void {
  request.record = { startedMs: performance.now() };
  request.id = `${routeOf(request)?.idPrefix ?? 'req-'}${request.id}`;
  // Values of the reply and not of the socket: whoever writes the answer writes them with its head, once.
  reply.header('x-svc-version', VERSION).header('CF-RAY', request.id).header('x-request-id', request.id);
  request.socket.setNoDelay(true);
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
  if (problem.code === 'REQUEST_INCOMPLETE') reply.header('connection', 'close');
  void reply
    .status(problem.status)
    .header('content-type', 'application/json')
    .send(JSON.stringify(errorBody(problem)));
}
